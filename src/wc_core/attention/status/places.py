"""The places of a thread: the branches, changes and worktrees that it belongs to.

A thread is at the branch that it was opened from or moved to, at the branch or change
that it is named after, and in the worktree that is the seat of who has the ball, or of
who passed it to them (`wc_core.people.identity.resolve.worktree_rules` names seats
after worktrees).

Each of these is a *place*: the name of a branch, a change id, git's name of a linked
worktree without a branch, or `MAIN`, where threads belong that were opened in a main
worktree without a branch. `places_of` returns the places of a thread,
`worktree_places` those of a worktree. A thread is here if it has a place of this
worktree, or if the holder's seat is the viewer's own: `Surroundings`.
"""

from __future__ import annotations

from wc_core.base.layout import safe_name
from wc_core.base.lean import functools
from wc_core.base.names import Directory, Name, fold, parse
from wc_core.base.values import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Protocol

    from wc_core.ledger.threads.model import State

    class PlacedTree(Protocol):
        """A worktree, linked or not."""

        @property
        def branch(self) -> str:
            """The branch that is checked out; empty if HEAD is detached."""

        @property
        def rebased(self) -> str:
            """The branch that is being rebased."""

        @property
        def change_id(self) -> str:
            """The change in the name of its folder."""

        @property
        def worktree_id(self) -> str:
            """Git's name of a linked worktree; empty for the main one."""


# The main worktree. No branch can have this name, and no thread's file name does.
MAIN = ".main"
# The name of the main worktree's seat, if the settings give it one.
_MAIN_SEAT = "main"

_MAX_BRANCH_BYTES = 1000
_MAX_PART_BYTES = 255
# The end of a session's id, which follows the seat of its worktree and a dot.
_SESSION_LENGTH = 6
_SESSION_CHARACTERS = frozenset("abcdefghijklmnopqrstuvwxyz0123456789_-")

_CACHED = 1024


def places_of(state: State) -> tuple[str, ...]:
    """Returns the places of a thread, without repetition."""
    named = dict.fromkeys((state.topic, state.name))
    holders = (state.ball or "", _passer(state))
    seats = (place for holder in holders for place in _seat_places(holder))
    names = (*map(safe_name, named), *seats)
    branch = state.branch
    if branch == MAIN:
        return tuple(dict.fromkeys((MAIN, *names)))
    if not is_branch(branch):
        return tuple(dict.fromkeys(names))
    # A worktree with this branch has the name with dashes as a place, too.
    spellings = (branch, branch.replace("/", "-"))
    return (
        branch,
        *dict.fromkeys(name for name in names if name not in spellings),
    )


def _passer(state: State) -> str:
    """Returns who passed the ball to its holder, and usually gets it back; empty if
    nobody did."""
    latest = state.passes[-1:]
    return "".join(item.by for item in latest if item.to == state.ball)


@functools.lru_cache(_CACHED)
def _seat_places(holder: str) -> tuple[str, ...]:
    """Returns the worktrees that a holder's seat may be named after."""
    seat = parse(holder).seat
    worktree, _, session = seat.rpartition(".")
    by_session = len(session) == _SESSION_LENGTH and _SESSION_CHARACTERS.issuperset(
        session
    )
    seats = (seat, worktree) if by_session and worktree else (seat,)
    main = (MAIN,) if _MAIN_SEAT in seats else ()
    return (*filter(is_branch, seats), *main)


def home_of(tree: PlacedTree) -> str:
    """Returns the place of a thread that is opened in a worktree without a branch."""
    return tree.worktree_id or MAIN


def branch_text(branch: str) -> str:
    """Returns the branch of a thread, for display."""
    return "the main worktree" if branch == MAIN else branch


def branch_places(branch: str) -> tuple[str, ...]:
    """Returns the places of a branch: threads are named after it with dashes, too."""
    return tuple(dict.fromkeys((branch, branch.replace("/", "-")))) if branch else ()


def worktree_places(tree: PlacedTree | None) -> tuple[str, ...]:
    """Returns the places of a worktree, without repetition; none outside git."""
    if tree is None:
        return ()
    branch = tree.branch
    by_id = home_of(tree)
    # A linked worktree with a branch has its branch as a seat, not its id.
    by_id = "" if branch and by_id != MAIN else by_id
    names = (*branch_places(branch or tree.rebased), tree.change_id, by_id)
    return tuple(dict.fromkeys(name for name in names if name))


@functools.lru_cache(_CACHED)
def is_branch(text: str) -> bool:
    """Returns whether ``text`` can be a git branch, and so a safe path.

    The rules that matter for a path, from git-check-ref-format(1).
    """
    try:
        raw = text.encode()
    except UnicodeEncodeError:
        return False
    return len(raw) <= _MAX_BRANCH_BYTES and all(
        0 < len(part) <= _MAX_PART_BYTES
        and not part.startswith(b".")
        and min(part) > ord(" ")
        and not any(byte in b"\x7f~^:?*[\\" for byte in part)
        for part in raw.split(b"/")
    )


def has_seat(key: str) -> bool:
    """Returns whether a key, or its file name, is that of a name with a seat."""
    before_tag = key.partition("(")[0]
    return not before_tag.startswith("@") and "@" in before_tag[1:-1]


class Surroundings(NamedTuple):
    """A worktree's places, and who looks from there: ``None`` for no one. ``pinned`` is
    the topic of the open thread chosen for the worktree: only that thread is here
    (`wc_core.attention.status.pins`). ``tag`` is that of the viewer's own agents.
    ``seats`` are the names that the worktree has had as a seat."""

    places: tuple[str, ...] = ()
    me: Name | None = None
    directory: Directory = Directory()
    pinned: str = ""
    tag: str = ""
    seats: tuple[str, ...] = ()

    def own_folders(self) -> tuple[str, ...]:
        """Returns the folders of balls that are the viewer's or offered to them."""
        keys = self.directory.match_keys(self.me) if self.me is not None else ()
        return tuple(map(safe_name, keys))

    def seat_keys(self) -> Iterator[str]:
        """Yields the keys of the viewer's names that have their seat."""
        if self.me is not None:
            yield from filter(has_seat, self.directory.match_keys(self.me))

    def seated(self, folders: Iterable[str]) -> list[str]:
        """Returns those folders of holders whose balls are here because of the seat,
        under any of its names."""
        own = set(map(safe_name, self.seat_keys()))
        ends = tuple(safe_name(f"@{fold(seat)}") for seat in self.seats)
        return [
            folder
            for folder in folders
            if folder in own or (ends and folder.partition("(")[0].endswith(ends))
        ]

    def has(self, state: State) -> bool:
        """Returns whether a thread is here."""
        if self.pinned:
            return state.topic == self.pinned
        if not set(places_of(state)).isdisjoint(self.places):
            return True
        if not state.ball:
            return False
        return bool(self.seated([safe_name(self.directory.key(parse(state.ball)))]))
