"""``wc note`` tells others what you are doing."""

from __future__ import annotations

import os

from wc_cli.ledger.clock import now_ms
from wc_cli.run import ancestors
from wc_cli.run.entries import receipts
from wc_cli.run.options import Options, argument, command, flag, text, texts
from wc_cli.run.output import remark, say, say_json
from wc_core.base.errors import InvalidInputError
from wc_core.base.layout import NOTES, Layout
from wc_core.base.text import clean, one_line
from wc_core.base.times import age_text, ago, seconds_between
from wc_core.edits.claims import ids, sessions
from wc_core.edits.notes import reading
from wc_core.edits.notes.reading import MAX_SCOPE, Note
from wc_core.ledger.git import config
from wc_core.ledger.threads import vocabulary
from wc_core.ledger.threads.proposals import Draft
from wc_core.reading.views import worktrees as worktree_views

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wc_cli.run.context import Context
    from wc_core.edits.claims.ids import ClaimId
    from wc_core.reading.views.worktrees import WorktreeQuery

_MAX_INTENT_BYTES = 200
_TITLE = 200
_ENDED = "ended"


class NoteOptions(Options):
    """Tell others what you are doing; without TEXT, show your note."""

    note: str = argument("TEXT", "What you are doing.", default="")
    scope: tuple[str, ...] = texts(
        "--scope", "PATH", "A file, folder or PATH::SYMBOL that it is about."
    )
    intent: str = text(
        "--intent", "TEXT", "What you are going to do, such as: refactor."
    )
    lasts: str = text(
        "--for", "LENGTH", "How long it lasts: 90m, 3h, 2d.", default="30m"
    )
    clear: bool = flag("--clear", help="End the note.")


@command(NoteOptions)
def note(context: Context, options: NoteOptions) -> None:
    """Leave a note, show it, or end it."""
    query = worktree_views.worktree_query(
        context.place, context.cwd, context.env, now_ms()
    )
    is_new = any((options.note, options.scope, options.intent))
    if options.clear and is_new:
        raise InvalidInputError(
            "--clear ends a note, and cannot be combined with other options.",
            "Leave another note instead: it replaces the previous one.",
        )
    if options.clear:
        _end_note(context, options, query)
    elif is_new:
        _leave_note(context, options, query)
    else:
        _show_note(context, options, query)


def _leave_note(context: Context, options: NoteOptions, query: WorktreeQuery) -> None:
    targets = _scope(options, query, context)
    seconds = vocabulary.lasting_seconds(options.lasts)
    note = _blank(context, query)._replace(
        text=vocabulary.note(options.note),
        until_ms=query.now_ms // 1000 * 1000 + seconds * 1000,
        intent=_intent(options.intent),
        scope=tuple(map(str, targets)),
        session=sessions.session_of(ancestors.session_process(context.env)),
    )
    _write(context, note)
    if options.json:
        say_json(_head_json(context, query) | note.to_json(query.now_ms))
    else:
        say(f"noted for {age_text(seconds)}: {note.sentence()}")
    for target in targets:
        if not os.path.lexists(os.path.join(query.own, target.path)):
            remark(f"note: {clean(target.path)} does not exist in this worktree")


def _blank(context: Context, query: WorktreeQuery) -> Note:
    """A note from here that has ended."""
    layout, now = Layout(context.place.root), query.now_ms // 1000 * 1000
    return Note(
        *(context.identity.author, "", now, now),
        worktree=one_line(os.path.basename(query.own)) or "/",
        clone=reading.clone_of(layout),
        place=reading.place_of(layout, query.own),
    )


def _write(context: Context, note: Note) -> None:
    """Write the entry of a note. It is committed and sent like any other."""
    title = one_line(note.sentence(MAX_SCOPE), _TITLE) or _ENDED
    draft = Draft(NOTES, "say", title, note=note.to_fields())
    receipt = context.writer().write(draft, context.source)
    for problem in (*receipt.notes, *receipts.start_settling(context)):
        remark(f"note: {problem}")


def _scope(
    options: NoteOptions, query: WorktreeQuery, context: Context
) -> list[ClaimId]:
    """The ids of the typed paths, without repetition. Raises InvalidInputError."""
    ignore_case = config.is_true(
        config.get("core.ignorecase", query.repository, context.env)
    )
    targets: dict[ClaimId, None] = {}
    for word in options.scope:
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


def _own_note(context: Context, query: WorktreeQuery) -> Note | None:
    layout = Layout(context.place.root)
    place = reading.place_of(layout, query.own)
    for note in reading.current_notes(layout, query.now_ms):
        if note.place == place and context.viewer.is_me(note.agent):
            return note
    return None


def _end_note(context: Context, options: NoteOptions, query: WorktreeQuery) -> None:
    own = _own_note(context, query)
    if own is not None:
        _write(context, _blank(context, query))
    if options.json:
        say_json(_head_json(context, query) | {"cleared": own is not None})
        return
    say("You have no note here." if own is None else "Note removed.")


def _show_note(context: Context, options: NoteOptions, query: WorktreeQuery) -> None:
    own = _own_note(context, query)
    if options.json:
        fields = own.to_json(query.now_ms) if own is not None else {"note": None}
        say_json(_head_json(context, query) | fields)
    elif own is None:
        remark("You have no note here. Leave one: wc note 'what I am doing'")
    else:
        when = ago(seconds_between(own.at_ms, query.now_ms))
        say(f"{own.agent}: {own.sentence()}, {when}")


def _head_json(context: Context, query: WorktreeQuery) -> dict[str, str]:
    return {"store": context.store, "worktree": query.display_path(query.own)}
