"""``wc worktrees`` shows what happens in each worktree; ``wc note`` leaves a note about
the current one."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from wc_cli.clock import now_ms
from wc_cli.commands.common import SpeakerOptions
from wc_cli.options import argument, command, flag, text
from wc_cli.output import remark, say, say_json
from wc_cli.terminal import render
from wc_cli.terminal import worktrees as worktree_rendering
from wc_core.activity import presence
from wc_core.activity.presence import Note
from wc_core.activity.statefile import StateFiles
from wc_core.errors import WcError
from wc_core.layout import Layout
from wc_core.threads import vocabulary
from wc_core.times import age_text, rfc3339
from wc_core.views import worktrees as worktree_views

if TYPE_CHECKING:
    from wc_cli.context import Context
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
    with contextlib.suppress(WcError):  # the view reports the same problem
        context.remember()
    view = worktree_views.worktree_view(context, StateFiles(), now_ms())
    if view.problem:
        remark(f"threads left out: {view.problem}")
    if options.json:
        say_json(view.to_json())
        return
    style = render.output_style(context.env)
    say(worktree_rendering.worktrees_text(view.neighbours, view.query, style))
    if not view.neighbours:
        remark(_NO_WORKTREES)


@command(NoteOptions)
def note(context: Context, options: NoteOptions) -> None:
    """Leave a note, show it, or remove it."""
    query = worktree_views.worktree_query(
        context.place, context.cwd, context.env, now_ms()
    )
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
    for other_name, old in presence.read_files(local.layout):
        if old is not None and old.at_ms + old.seconds * 1000 < query.now_ms:
            local.remove_note(other_name)  # it has expired
    if options.json:
        until = rfc3339(note.at_ms + note.seconds * 1000)
        say_json(
            _head_json(context, query) | note.to_json(query.now_ms) | {"until": until}
        )
        return
    say(f"noted for {age_text(note.seconds)}: {worktree_rendering.note_text(note)}")


def _clear_note(
    context: Context, options: NoteOptions, query: WorktreeQuery, name: str
) -> None:
    files = presence.read_files(Layout(context.place.root))
    cleared = any(file == name for file, _ in files)
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
    say(worktree_rendering.dated_note(notes[0], query.now_ms))


def _head_json(context: Context, query: WorktreeQuery) -> dict[str, str]:
    return {"store": context.store, "worktree": query.display_path(query.own)}
