"""What the prompt says in several worktrees: one table for the script and its twin."""

from __future__ import annotations

from typing import Any, NamedTuple

from wc_core.base import ulid
from wc_core.base.names import Name
from wc_core.ledger.threads.model import Pass, State

PERSON = Name("Pat")
CLAUDE = Name("Claude Code", "login", "Pat")
# A worktree by its folder, with its branch; a branch that is empty is none.
WORKTREES = {
    "app": "main",
    "login": "login",
    "app-wt-review": "feature/review",
    "other": "Fix/UI",
    "tree": "",
}


class PlaceCase(NamedTuple):
    """Some threads, and the line for ``me`` in the worktree ``folder``."""

    name: str
    folder: str
    me: Name
    threads: tuple[State, ...]
    line: str


def thread(topic: str, ball: str | None, at: int = 1, **more: Any) -> State:
    """A thread whose ball has been where it is since ``at``."""
    return State(topic, ball=ball, since=ulid.encode(at), **more)


_ASKED = thread("passkeys", "Claude Code@login (Pat)", branch="main")
_MINE = thread("crash", "Pat", 2, branch="login")
_OFFERED = thread("offer", "Claude Code (Pat)", 3, branch="main")

CASES = (
    PlaceCase(
        "asked, at work in another worktree",
        "app",
        PERSON,
        (_ASKED,),
        "Claude Code@login (Pat) has the ball · passkeys",
    ),
    PlaceCase(
        "in the worktree of the holder's seat",
        "login",
        PERSON,
        (_ASKED,),
        "Claude Code@login (Pat) has the ball · passkeys",
    ),
    PlaceCase(
        "in the worktree of who gets it back next",
        "app-wt-review",
        PERSON,
        (
            thread(
                "x",
                "Claude Code@login (Pat)",
                passes=(
                    Pass("Pat", "Codex@login (Pat)"),
                    Pass("Claude Code@login (Pat)", "Codex@review (Pat)"),
                ),
            ),
        ),
        "Claude Code@login (Pat) has the ball · x",
    ),
    PlaceCase(
        "in the worktree of who passed it to an earlier holder",
        "app-wt-review",
        PERSON,
        (
            thread(
                "x",
                "Claude Code@login (Pat)",
                passes=(Pass("Pat", "Codex@review (Pat)"),),
            ),
        ),
        "",
    ),
    PlaceCase(
        "opened in the main worktree without a branch",
        "app",
        PERSON,
        (thread("x", "Codex (Pat)", branch=".main"),),
        "Codex (Pat) has the ball · x",
    ),
    PlaceCase(
        "opened in the main worktree without a branch, seen from another",
        "tree",
        PERSON,
        (thread("x", "Codex (Pat)", branch=".main"),),
        "",
    ),
    PlaceCase("in no place of it", "app-wt-review", PERSON, (_ASKED,), ""),
    PlaceCase(
        "the holder in the own worktree",
        "login",
        CLAUDE,
        (_ASKED,),
        "🎾 you · passkeys",
    ),
    PlaceCase(
        "the holder away from the seat's worktree",
        "tree",
        CLAUDE,
        (_ASKED,),
        "🎾 you · passkeys",
    ),
    PlaceCase(
        "mine here before another's here",
        "login",
        PERSON,
        (_ASKED, _MINE),
        "🎾 you · crash",
    ),
    PlaceCase(
        "another's here before mine elsewhere",
        "app",
        PERSON,
        (_ASKED, _MINE),
        "🎾 1 for you elsewhere · Claude Code@login (Pat) has the ball · passkeys",
    ),
    PlaceCase(
        "mine elsewhere, nothing here",
        "tree",
        PERSON,
        (_ASKED, _MINE),
        "🎾 crash waits for you elsewhere",
    ),
    PlaceCase(
        "an agent's here, and offered elsewhere",
        "login",
        CLAUDE,
        (_ASKED, _OFFERED),
        "🎾 you · passkeys · 1 elsewhere",
    ),
    PlaceCase(
        "an agent is offered one where another holds one",
        "login",
        CLAUDE,
        (_OFFERED, thread("login", "Pat", 4)),
        "🎾 1 for you elsewhere · Pat has the ball · login",
    ),
    PlaceCase(
        "the change is the seat",
        "app-wt-review",
        PERSON,
        (thread("x", "Codex@review (Pat)"),),
        "Codex@review (Pat) has the ball · x",
    ),
    PlaceCase(
        "the branch with a slash is the seat",
        "app-wt-review",
        PERSON,
        (thread("x", "Codex@feature/review"),),
        "Codex@feature/review has the ball · x",
    ),
    PlaceCase(
        "the branch with dashes is the seat",
        "app-wt-review",
        PERSON,
        (thread("x", "Codex@feature-review"),),
        "Codex@feature-review has the ball · x",
    ),
    PlaceCase(
        "the seat of a session",
        "login",
        PERSON,
        (thread("x", "Codex@login.3f2a1b (Pat)"),),
        "Codex@login.3f2a1b (Pat) has the ball · x",
    ),
    PlaceCase(
        "another session's",
        "login",
        CLAUDE,
        (thread("x", "Claude Code@login.3f2a1b (Pat)"),),
        "Claude Code@login.3f2a1b (Pat) has the ball · x",
    ),
    PlaceCase(
        "git's name of a worktree without a branch",
        "tree",
        PERSON,
        (thread("x", "Codex@tree (Pat)"),),
        "Codex@tree (Pat) has the ball · x",
    ),
    PlaceCase(
        "git's name of a worktree with a branch",
        "app-wt-review",
        PERSON,
        (thread("x", "Codex@app-wt-review"),),
        "",
    ),
    PlaceCase(
        "the main worktree's seat",
        "app",
        PERSON,
        (thread("x", "Codex@main (Pat)"),),
        "Codex@main (Pat) has the ball · x",
    ),
    PlaceCase(
        "a seat with a name of its own",
        "login",
        PERSON,
        (thread("x", "Codex@left (Pat)"),),
        "",
    ),
    PlaceCase(
        "a seat with a name of its own, and mine",
        "login",
        Name("Codex", "left", "Pat"),
        (thread("x", "Codex@left (Pat)"),),
        "🎾 you · x",
    ),
    PlaceCase(
        "a short name of mine with my seat",
        "app",
        CLAUDE,
        (thread("x", "claude@LOGIN", branch="far"),),
        "🎾 you · x",
    ),
    PlaceCase(
        "a tag is not a seat",
        "tree",
        Name("Codex", "", "pat@login"),
        (thread("x", "Codex (pat@login)"),),
        "🎾 x waits for you elsewhere",
    ),
    PlaceCase(
        "named after the change",
        "app-wt-review",
        PERSON,
        (thread("review", "Codex"),),
        "Codex has the ball · review",
    ),
    PlaceCase(
        "moved to a branch that nobody has",
        "login",
        PERSON,
        (thread("x", "Codex", branch="future"),),
        "",
    ),
    PlaceCase(
        "offered one beside the seat's",
        "login",
        CLAUDE,
        (_ASKED, _OFFERED),
        "🎾 you · passkeys · 1 elsewhere",
    ),
    PlaceCase(
        "the own seat is the change",
        "app-wt-review",
        Name("Claude Code", "review", "Pat"),
        (
            thread("x", "Claude Code@review (Pat)"),
            thread("y", "claude@feature/review", 2, branch="feature/review"),
        ),
        "🎾 you · x",
    ),
    PlaceCase(
        "the own seat is a branch with a slash",
        "other",
        Name("Claude Code", "Fix/UI", "Pat"),
        (thread("x", "claude@fix/ui"), thread("y", "Claude Code@other (Pat)", 2)),
        "🎾 you · x",
    ),
    PlaceCase(
        "the own seat in a worktree without a branch",
        "tree",
        Name("Claude Code", "tree", "Pat"),
        (thread("x", "Claude Code@tree (Pat)"),),
        "🎾 you · x",
    ),
    PlaceCase(
        "an agent in the main worktree",
        "app",
        Name("Claude Code", "", "Pat"),
        (thread("x", "Claude Code (Pat)", branch="main"), _ASKED),
        "🎾 you · x",
    ),
    PlaceCase(
        "beside one who works for another",
        "login",
        CLAUDE,
        (thread("x", "Claude Code@login (Sam)"),),
        "Claude Code@login (Sam) has the ball · x",
    ),
    PlaceCase("closed", "app", PERSON, (_ASKED._replace(status="CLOSED"),), ""),
)
