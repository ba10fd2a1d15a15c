"""``wc note`` tells others what you are doing; ``wc activity`` shows everyone's
notes."""

from __future__ import annotations

import os

from wc_cli.commands.common import SpeakerOptions
from wc_cli.edits.activitylog import writing
from wc_cli.ledger import spawn
from wc_cli.ledger.clock import now_ms
from wc_cli.run import ancestors
from wc_cli.run.options import argument, command, flag, text, texts, words
from wc_cli.run.output import remark, say, say_json
from wc_cli.run.terminal import edits as edits_rendering
from wc_cli.run.terminal import worktrees as worktree_rendering
from wc_cli.run.terminal.style import output_style
from wc_core.base.errors import InvalidInputError, WcError
from wc_core.base.layout import Layout
from wc_core.base.text import clean
from wc_core.base.times import age_text, rfc3339
from wc_core.edits.activitylog import reading
from wc_core.edits.claims import ids, sessions
from wc_core.ledger.git import config
from wc_core.ledger.git.discovery import BRANCH_STORE
from wc_core.ledger.threads import vocabulary
from wc_core.people.activity import presence
from wc_core.people.activity.presence import MAX_SCOPE, Note
from wc_core.reading.views import activity as activity_views
from wc_core.reading.views import worktrees as worktree_views

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from wc_cli.run.context import Context
    from wc_core.edits.claims.ids import ClaimId
    from wc_core.reading.views.worktrees import WorktreeQuery

_MAX_INTENT_BYTES = 200


class NoteOptions(SpeakerOptions):
    """Tell others what you are doing; without TEXT, show your note."""

    note: str = argument("TEXT", "What you are doing.", default="")
    scope: tuple[str, ...] = texts(
        "--scope", "PATH", "A file, folder or PATH::SYMBOL that it is about."
    )
    intent: str = text(
        "--intent", "TEXT", "What you are going to do, such as: refactor."
    )
    thread: str = text(
        "--thread", "TOPIC", "The thread that it is about.", complete="topic"
    )
    status: str = text("--status", "STATUS", "running, waiting, blocked or idle.")
    lasts: str = text(
        "--for", "LENGTH", "How long it lasts: 90m, 3h, 2d.", default="30m"
    )
    clear: bool = flag("--clear", help="Remove the note.")


class ActivityOptions(SpeakerOptions):
    """Show what everyone is doing, in all worktrees and in other clones."""

    paths: tuple[str, ...] = words("PATH...", "Only notes about these.", default=())
    mine: bool = flag("--mine", help="Only your notes.")
    others: bool = flag("--others", help="Only other people's notes.")


@command(NoteOptions)
def note(context: Context, options: NoteOptions) -> None:
    """Leave a note, show it, or remove it."""
    query = worktree_views.worktree_query(
        context.place, context.cwd, context.env, now_ms()
    )
    details = (options.note, options.status, options.scope, options.intent)
    named = any((*details, options.thread))
    if options.clear and named:
        raise InvalidInputError(
            "--clear removes a note, and cannot be combined with other options.",
            "Leave another note instead: it replaces the previous one.",
        )
    if options.clear:
        _clear_note(context, options, query)
    elif named:
        _leave_note(context, options, query)
    else:
        _show_note(context, options, query)


def _leave_note(context: Context, options: NoteOptions, query: WorktreeQuery) -> None:
    targets = _scope(options.scope, query, context)
    note = Note(
        worktree=query.own,
        branch=query.repository.branch if query.repository is not None else "",
        agent=context.identity.author,
        status=vocabulary.presence_status(options.status),
        text=vocabulary.note(options.note),
        at_ms=query.now_ms // 1000 * 1000,
        seconds=vocabulary.presence_seconds(options.lasts),
        intent=_intent(options.intent),
        scope=tuple(map(str, targets)),
        thread=_thread(context, options.thread),
        session=sessions.session_of(ancestors.session_process(context.env)),
    )
    writer = context.writer()
    local = writer.upkeep.local
    writing.announce(local.layout, _shared(note, query), query.now_ms)
    local.write_note(_file_name(context, query), presence.render(note))
    writer.note_writer()
    for other_name, old in presence.read_files(local.layout):
        if old is not None and old.at_ms + old.seconds * 1000 < query.now_ms:
            local.remove_note(other_name)  # it has expired
    _send(context)
    if options.json:
        until = rfc3339(note.at_ms + note.seconds * 1000)
        fields = note.to_json(query.now_ms) | {"until": until}
        say_json(_head_json(context, query) | fields)
    else:
        say(f"noted for {age_text(note.seconds)}: {worktree_rendering.note_text(note)}")
    for target in targets:
        if not os.path.lexists(os.path.join(query.own, target.path)):
            remark(f"note: {clean(target.path)} does not exist in this worktree")


def _scope(
    typed: Iterable[str], query: WorktreeQuery, context: Context
) -> list[ClaimId]:
    """The ids of the typed paths, without repetition. Raises InvalidInputError."""
    ignore_case = config.is_true(
        config.get("core.ignorecase", query.repository, context.env)
    )
    targets: dict[ClaimId, None] = {}
    for word in typed:
        try:
            target = ids.canonical(
                word, context.cwd, query.own, ignore_case=ignore_case
            )
        except InvalidInputError as error:
            raise InvalidInputError(
                f"{clean(word)[:80]!r} is not a path in this worktree.",
                "Name a file, a folder or PATH::SYMBOL in it: --scope src/auth.py",
            ) from error
        targets[target] = None
    if len(targets) > MAX_SCOPE:
        raise InvalidInputError(
            f"A scope has at most {MAX_SCOPE} paths.",
            "Name the folder that contains them.",
        )
    return list(targets)


def _intent(typed: str) -> str:
    """Check an intent, which is one line. Raises InvalidInputError."""
    intent = vocabulary.note(typed)
    if len(intent.encode()) > _MAX_INTENT_BYTES:
        raise InvalidInputError(
            f"An intent has at most {_MAX_INTENT_BYTES} bytes.",
            "Put the rest into TEXT: wc note TEXT --intent refactor",
        )
    return intent


def _thread(context: Context, topic: str) -> str:
    if not topic:
        return ""
    reader = context.reader
    return reader.snapshot(reader.find(topic)).state.topic


def _shared(note: Note, query: WorktreeQuery) -> Note:
    """The note for other clones, without paths of this machine."""
    return note._replace(worktree=os.path.basename(query.own) or "/")


def _file_name(context: Context, query: WorktreeQuery) -> str:
    return presence.file_name(query.own, context.viewer.key)


def _send(context: Context) -> None:
    """Start sending the log to the remote of the threads, if there is one. The note is
    already written, and the next exchange retries what fails."""
    if context.place.kind != BRANCH_STORE:
        return
    mode, layout = context.settings.sync, Layout(context.place.root)
    from wc_cli.edits.activitylog import travel  # 10 ms, only beside a branch

    try:
        remote = travel.route(layout.root, context.env)
        if remote is None:
            return
        if mode == "background":
            spawn.start_activity(layout, context.env)
        elif mode == "inline":
            limit = context.settings.limit
            for problem in travel.exchange_beside_store(
                layout.root, context.env, remote, limit
            ):
                remark(f"note: {problem}")
    except (WcError, OSError) as error:
        remark(f"note: the note was not sent: {error}")


def _clear_note(context: Context, options: NoteOptions, query: WorktreeQuery) -> None:
    name = _file_name(context, query)
    layout = Layout(context.place.root)
    note = dict(presence.read_files(layout)).get(name)
    cleared = os.path.lexists(f"{layout.presence}/{name}")
    if cleared:
        local = context.writer().upkeep.local
        if note is not None:
            ended = Note(
                *(_shared(note, query)[:4]), "", query.now_ms // 1000 * 1000, 0
            )
            writing.announce(layout, ended, query.now_ms)
        local.remove_note(name)
        _send(context)
    if options.json:
        say_json(_head_json(context, query) | {"cleared": cleared})
        return
    say("Note removed." if cleared else "You have no note here.")


def _show_note(context: Context, options: NoteOptions, query: WorktreeQuery) -> None:
    notes = [
        note
        for note in reading.current_notes(Layout(context.place.root), query.now_ms)
        if note.worktree == query.own and context.viewer.is_me(note.agent)
    ]
    if options.json:
        fields = notes[0].to_json(query.now_ms) if notes else {"status": None}
        say_json(_head_json(context, query) | fields)
        return
    if not notes:
        remark("You have no note here. Leave one: wc note 'what I am doing'")
        return
    say(worktree_rendering.dated_note(notes[0], query.now_ms))


def _head_json(context: Context, query: WorktreeQuery) -> dict[str, str]:
    return {"store": context.store, "worktree": query.display_path(query.own)}


@command(ActivityOptions)
def activity(context: Context, options: ActivityOptions) -> None:
    """Show what everyone is doing."""
    if options.mine and options.others:
        raise InvalidInputError(
            "--mine and --others exclude each other.", "Use one of them."
        )
    moment = now_ms()
    query = worktree_views.worktree_query(
        context.place, context.cwd, context.env, moment
    )
    targets = _scope(options.paths, query, context)
    view = activity_views.activity_view(
        Layout(context.place.root), context.viewer, moment
    )
    view = view.about(targets)
    if options.mine or options.others:
        view = view.of_mine(mine=options.mine)
    if options.json:
        say_json({"store": context.store} | view.to_json())
        return
    say(edits_rendering.activity_text(view, output_style(context.env)))
    if not view.rows:
        remark("There are no notes. Leave one: wc note TEXT --scope PATH")
