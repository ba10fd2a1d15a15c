"""The commands across worktrees: who is where, and saying so oneself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wc_cli.clock import now_ms
from wc_cli.commands.common import SpeakerOptions
from wc_cli.options import argument, command, flag, text
from wc_cli.output import remark, say, say_json
from wc_cli.terminal import render
from wc_cli.terminal import worktrees as worktreetext
from wc_core.activity import presence
from wc_core.activity.presence import Note
from wc_core.activity.statefile import StateFiles
from wc_core.errors import WcError
from wc_core.layout import Layout
from wc_core.threads import vocabulary
from wc_core.times import age_text, rfc3339
from wc_core.views import worktrees as neighbours
from wc_core.views.worktrees import WorktreeView

if TYPE_CHECKING:
    from wc_cli.context import Context
    from wc_core.git.discovery import Place
    from wc_core.views.rows import ThreadRow
    from wc_core.views.worktrees import WorktreeQuery

_NO_WORKTREES = "There is no git repository here, and nobody has left a note."


class WorktreesOptions(SpeakerOptions):
    """Show each worktree: who has the ball, which loop runs, who is working."""


class NoteOptions(SpeakerOptions):
    """Tell others what you are doing; without TEXT, show it."""

    note: str = argument("TEXT", "What you are doing.", default="")
    status: str = text("--status", "STATUS", "running, waiting, blocked or idle.")
    lasts: str = text(
        "--for", "LENGTH", "For how long (90m, 3h, 2d; default: 30m).", default="30m"
    )
    clear: bool = flag("--clear", help="Remove the note.")


@command(WorktreesOptions)
def worktrees(context: Context, options: WorktreesOptions) -> None:
    """Show the worktrees."""
    view = _view(context)
    if view.problem:
        remark(f"threads left out: {view.problem}")
    if options.json:
        say_json(view.to_json())
        return
    say(
        worktreetext.worktrees_text(
            view.neighbours, view.query, render.output_style(context.env)
        )
    )
    if not view.neighbours:
        remark(_NO_WORKTREES)


def _view(context: Context) -> WorktreeView:
    """What goes on now. What is wrong with the threads is no reason to hide
    the loops."""
    now = now_ms()
    place: Place | None = None
    rows: list[ThreadRow] = []
    notes: list[Note] = []
    store, problem = None, ""
    try:
        context.remember()
        place = context.place
        if place.exists:
            rows = context.overview.rows()
            notes = presence.current_notes(Layout(place.root), now)
            store = context.store
    except WcError as error:
        problem = error.message
    look = neighbours.worktree_query(place, context.cwd, context.env, now)
    found = neighbours.neighbours(look, StateFiles(), rows, notes)
    return WorktreeView(look, found, store, problem)


@command(NoteOptions)
def note(context: Context, options: NoteOptions) -> None:
    """Leave a note, show it, or take it back."""
    query = neighbours.worktree_query(context.place, context.cwd, context.env, now_ms())
    name = presence.file_name(query.own, context.viewer.key)
    if options.clear:
        _clear_note(context, options, query, name)
    elif options.note or options.status:
        _leave_note(context, options, query, name)
    else:
        _show_note(context, options, query)


def _leave_note(
    context: Context, options: NoteOptions, query: WorktreeQuery, name: str
) -> None:
    note = Note(
        worktree=query.own,
        branch=query.repository.branch if query.repository is not None else "",
        agent=context.identity.author,
        status=vocabulary.presence_status(options.status),
        text=vocabulary.note(options.note),
        at_ms=query.now_ms // 1000 * 1000,
        seconds=vocabulary.presence_seconds(options.lasts),
    )
    local = context.writer().upkeep.local
    local.write_note(name, presence.render(note))
    for name_of_file, old in presence.read_files(local.layout):
        if old is not None and old.at_ms + old.seconds * 1000 < query.now_ms:
            local.remove_note(name_of_file)  # nobody counts it any more
    if options.json:
        until = rfc3339(note.at_ms + note.seconds * 1000)
        say_json(
            _head_json(context, query) | note.to_json(query.now_ms) | {"until": until}
        )
        return
    say(f"noted for {age_text(note.seconds)}: {worktreetext.note_text(note)}")


def _clear_note(
    context: Context, options: NoteOptions, query: WorktreeQuery, name: str
) -> None:
    names = {file for file, _ in presence.read_files(Layout(context.place.root))}
    cleared = name in names
    if cleared:
        context.writer().upkeep.local.remove_note(name)
    if options.json:
        say_json(_head_json(context, query) | {"cleared": cleared})
        return
    say("Taken back." if cleared else "You have no note here.")


def _show_note(context: Context, options: NoteOptions, query: WorktreeQuery) -> None:
    notes = [
        note
        for note in presence.current_notes(Layout(context.place.root), query.now_ms)
        if note.worktree == query.own and context.viewer.is_me(note.agent)
    ]
    if options.json:
        fields = notes[0].to_json(query.now_ms) if notes else {"status": None}
        say_json(_head_json(context, query) | fields)
        return
    if not notes:
        remark("You have no note here. Leave one: wc note 'what I am doing'")
        return
    say(worktreetext.dated_note(notes[0], query.now_ms))


def _head_json(context: Context, query: WorktreeQuery) -> dict[str, str]:
    return {"store": context.store, "worktree": query.display_path(query.own)}
