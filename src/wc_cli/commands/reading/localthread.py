"""``wc use`` and ``wc whose``: the thread of this worktree, and whose move it is."""

from __future__ import annotations

import os

from wc_cli.commands.common import LocalTopicOptions
from wc_cli.ledger.clock import now_ms
from wc_cli.run.entries import localtopic
from wc_cli.run.options import Options, argument, command, flag
from wc_cli.run.output import say, say_json
from wc_cli.run.terminal.labels import name_text
from wc_cli.run.terminal.style import is_terminal
from wc_core.attention.status import pins
from wc_core.base import names, ulid
from wc_core.base.errors import ConflictError, InvalidInputError
from wc_core.base.text import one_line
from wc_core.base.times import (
    ago,
    is_ahead,
    local,
    milliseconds,
    rfc3339,
    seconds_between,
)
from wc_core.ledger.planning import unlanded
from wc_core.ledger.planning.nextmoves import QUESTION, askers
from wc_core.ledger.threads.model import CLOSED, OPEN, holder_text
from wc_core.reading.views import holding

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from wc_cli.ledger.store.writer import StoreWriter
    from wc_cli.run.context import Context
    from wc_core.ledger.planning.nextmoves import NextMove
    from wc_core.ledger.threads.model import State


class UseOptions(Options):
    """Choose the thread of this worktree: commands use it if you name no topic, the
    prompt shows it, and wc list marks it with ◆. Without a topic, show it."""

    topic: str = argument("TOPIC", "The thread.", default="", complete="topic")
    none: bool = flag("--none", help="Undo the choice: the branch decides again.")


class WhoseOptions(LocalTopicOptions):
    """Show whose move it is, and since when: one line for each open thread here."""


@command(UseOptions)
def use(context: Context, options: UseOptions) -> None:
    """Choose the thread of this worktree, or show it."""
    reader = context.reader
    repository = context.place.repository
    worktree = pins.worktree_key(repository)
    if options.topic and options.none:
        raise InvalidInputError(
            "A topic and --none exclude each other.", "Use one of them."
        )
    if (options.topic or options.none) and not worktree:
        raise InvalidInputError(
            "This folder is not in a git worktree.", "Change to a worktree first."
        )
    if options.topic:
        state = reader.snapshot(reader.find(options.topic)).state
        _check_open(state)
        pin(context.writer(), worktree, state.topic)
        _print_used(context, options, state.name, "this worktree now uses {}")
    elif options.none:
        if pins.read_pin(reader.layout, worktree):
            pin(context.writer(), worktree, "")
        _print_used(context, options, "", "no thread is chosen here")
    else:
        name = reader.snapshot(localtopic.local_topic(context)).state.name
        is_chosen = bool(pins.pin_of(reader.layout, repository).topic)
        how = "the only one that is open here"
        if is_chosen:
            how = "chosen with wc use"
        elif len(localtopic.open_threads(context)) > 1:
            how = "the only one here whose ball you have"
        _print_used(context, options, name, f"this worktree uses {{}} ({how})")


def _check_open(state: State) -> None:
    if state.status == CLOSED:
        topic = one_line(state.name)
        raise ConflictError(
            f"{topic} is closed.", f"Reopen it first: wc set-status {topic} OPEN"
        )


def _print_used(
    context: Context, options: UseOptions, name: str, sentence: str
) -> None:
    if options.json:
        say_json({"store": context.store, "topic": name or None})
    else:
        say(sentence.format(one_line(name)))


@command(WhoseOptions)
def whose(context: Context, options: WhoseOptions) -> None:
    """Show whose move it is."""
    if options.topic is None:
        states = localtopic.local_states(context)
    else:
        reader = context.reader
        states = [reader.snapshot(reader.find(options.topic)).state]
    if options.json:
        first, *more = rows = [_whose_json(context, state) for state in states]
        say_json({"store": context.store} | ({"threads": rows} if more else first))
        return
    say("\n".join(_whose_line(context, state) for state in states))


def _whose_json(context: Context, state: State) -> dict[str, Any]:
    asker_names = askers(_own_moves(context, state))
    return {
        "topic": state.name,
        "status": state.status,
        "ball": state.ball,
        "mine": bool(_own_moves(context, state)),
        **({"asked_by": list(asker_names)} if asker_names else {}),
        "since": rfc3339(_since_ms(context, state)),
    }


def _own_moves(context: Context, state: State) -> list[NextMove]:
    return unlanded.own_moves(context.reader, context.viewer.holds, state)


def _whose_line(context: Context, state: State) -> str:
    since_ms = _since_ms(context, state)
    since = rfc3339(since_ms)
    if _is_doubtful(state, since_ms):
        since = "a doubtful time"
    elif is_terminal():
        since = f"{local(since_ms)} ({ago(seconds_between(since_ms, now_ms()))})"
    return one_line(f"{state.name}: {_move_text(context, state)}, since {since}")


def _is_doubtful(state: State, since_ms: int) -> bool:
    """Return whether a wrong clock dated a ball after now, or before its thread."""
    known_ms = holding.since_ms(state, now_ms())
    is_early = known_ms is not None and is_ahead(known_ms, since_ms)
    return is_early or is_ahead(since_ms, now_ms())


def _move_text(context: Context, state: State) -> str:
    if state.status == CLOSED:
        moves = unlanded.own_moves(context.reader, lambda _: True, state)
        return f"closed, {_landing_text(context, moves)}"
    status = "" if state.status == OPEN else f" ({state.status})"
    own_tag = context.viewer.identity.own_tag
    if names_of_askers := askers(_own_moves(context, state)):
        asker_names = [name_text(name, own_tag) for name in names_of_askers]
        return f"your move{status}, asked by {' and '.join(asker_names)}"
    if context.viewer.whose(state.ball) == names.MINE:
        return f"your move{status}"
    return f"{name_text(holder_text(state.ball), own_tag)}'s move{status}"


def _landing_text(context: Context, moves: list[NextMove]) -> str:
    if not moves:
        return "nobody's move"
    kind, participant, *_ = moves[0]
    own_tag = context.viewer.identity.own_tag
    is_own = context.viewer.holds(participant)
    whose = "yours" if is_own else f"{name_text(participant, own_tag)}'s"
    return f"{whose} to {kind}"


def _since_ms(context: Context, state: State) -> int:
    """Return since when it waits for the viewer's answer, or when the ball was passed
    or the thread closed."""
    moves = _own_moves(context, state)
    questions = (move.since for move in moves if move.kind == QUESTION)
    moved = min(questions, default=state.since)
    if state.status == CLOSED:
        # It may have been renamed, tagged or discussed since.
        entries = reversed(context.reader.thread(state.topic).entries)
        moved = next((entry.id for entry in entries if entry.status == CLOSED), "")
    ulid_of_move = ulid.prefix(moved) or ulid.prefix(state.last_id)
    if ulid_of_move:
        return ulid.timestamp_ms(ulid_of_move)
    return milliseconds(state.updated_at) or 0


def pin(writer: StoreWriter, worktree: str, topic: str) -> None:
    """Choose the thread of a worktree for the prompt and for commands without a topic;
    an empty ``topic`` chooses none."""
    writer.prepare_store()
    local, path = writer.upkeep.local, pins.pin_file(worktree)
    if topic:
        local.write(path, f"{topic}\n".encode())
        # The choice for an earlier worktree of that name may have the same bytes.
        os.utime(f"{writer.layout.local}/{path}", follow_symlinks=False)
    else:
        local.remove(path)
    local.stamp.renew()
