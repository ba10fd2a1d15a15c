"""The commands across worktrees: who is where, and saying so oneself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wc_cli.clock import now_ms
from wc_cli.commands.words import Speaker
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


class Worktrees(Speaker):
    """Show what goes on in each worktree: whose ball, which loop, who is at
    it."""


class NoteWords(Speaker):
    """Say what you are doing, for others to see; without TEXT, show it."""

    note: str = argument("TEXT", "What you are doing.", default="")
    status: str = text("--status", "STATUS", "running, waiting, blocked or idle.")
    lasts: str = text(
        "--for", "LENGTH", "For how long (90m, 3h, 2d; default: 30m).", default="30m"
    )
    clear: bool = flag("--clear", help="Take back what you said.")


@command(Worktrees)
def worktrees(context: Context, said: Worktrees) -> None:
    """Show the worktrees."""
    seen = _view(context)
    if seen.problem:
        remark(f"threads left out: {seen.problem}")
    if said.json:
        say_json(seen.to_json())
        return
    say(
        worktreetext.worktrees_text(
            seen.neighbours, seen.query, render.output_style(context.env)
        )
    )
    if not seen.neighbours:
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
            notes = presence.notes(Layout(place.root), now)
            store = context.store
    except WcError as error:
        problem = error.message
    look = neighbours.worktree_query(place, context.cwd, context.env, now)
    found = neighbours.neighbours(look, StateFiles(), rows, notes)
    return WorktreeView(look, found, store, problem)


@command(NoteWords)
def note(context: Context, said: NoteWords) -> None:
    """Leave a note, show it, or take it back."""
    look = neighbours.worktree_query(context.place, context.cwd, context.env, now_ms())
    name = presence.file_name(look.own, context.viewer.key)
    if said.clear:
        _clear(context, said, look, name)
    elif said.note or said.status:
        _leave(context, said, look, name)
    else:
        _show(context, said, look)


def _leave(context: Context, said: NoteWords, look: WorktreeQuery, name: str) -> None:
    note = Note(
        worktree=look.own,
        branch=look.repository.branch if look.repository is not None else "",
        agent=context.identity.author,
        status=vocabulary.presence_status(said.status),
        text=vocabulary.note(said.note),
        at_ms=look.now_ms // 1000 * 1000,
        seconds=vocabulary.presence_seconds(said.lasts),
    )
    local = context.writer().upkeep.local
    local.write_note(name, presence.render(note))
    for other, old in presence.files(local.layout):
        if old is not None and old.at_ms + old.seconds * 1000 < look.now_ms:
            local.remove_note(other)  # nobody counts it any more
    if said.json:
        until = rfc3339(note.at_ms + note.seconds * 1000)
        say_json(_head(context, look) | note.to_json(look.now_ms) | {"until": until})
        return
    say(f"noted for {age_text(note.seconds)}: {worktreetext.note_text(note)}")


def _clear(context: Context, said: NoteWords, look: WorktreeQuery, name: str) -> None:
    names = {one for one, _ in presence.files(Layout(context.place.root))}
    cleared = name in names
    if cleared:
        context.writer().upkeep.local.remove_note(name)
    if said.json:
        say_json(_head(context, look) | {"cleared": cleared})
        return
    say("Taken back." if cleared else "You have no note here.")


def _show(context: Context, said: NoteWords, look: WorktreeQuery) -> None:
    found = [
        one
        for one in presence.notes(Layout(context.place.root), look.now_ms)
        if one.worktree == look.own and context.viewer.is_me(one.agent)
    ]
    if said.json:
        shown = found[0].to_json(look.now_ms) if found else {"status": None}
        say_json(_head(context, look) | shown)
        return
    if not found:
        remark("You have no note here. Leave one: wc note 'what I am doing'")
        return
    say(worktreetext.dated_note(found[0], look.now_ms))


def _head(context: Context, look: WorktreeQuery) -> dict[str, str]:
    return {"store": context.store, "worktree": look.display_path(look.own)}
