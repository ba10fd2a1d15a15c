"""Which two points of the code to compare to see what changed since a participant last
had the ball."""

from __future__ import annotations

from itertools import takewhile

from wc_core.base.values import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from wc_core.ledger.threads.model import Entry
    from wc_core.ledger.threads.reader import Thread
    from wc_core.people.identity.viewer import Viewer


class Points(NamedTuple):
    """Two points of the code.

    - ``base``: the entry at which it begins; ``None`` if no entry says on which branch
      or commit it was written
    - ``head``: the entry whose branch it ends with, as it is now; ``None`` for the
      worktree of whoever asks
    - ``is_fork``: ``base`` was written on another branch, so it begins where the
      branch of ``head`` left it
    - ``passed``: the entry with which the ball was passed on by whoever asks; ``None``
      if it never was
    """

    base: Entry | None = None
    head: Entry | None = None
    is_fork: bool = False
    passed: Entry | None = None


def points(entries: Sequence[Entry], viewer: Viewer) -> Points:
    """The points to compare for ``viewer``: from the code they had when they passed
    on the ball, or from the beginning of the thread, to the code that the others
    have now."""
    head = head_entry(entries, viewer)
    position = _last_pass(entries, viewer)
    passed = entries[position] if position >= 0 else None
    # Before the first commit of a repository, an entry only has a branch.
    with_code = [
        entry for entry in entries[: max(0, position) + 1] if entry.code_commit
    ]
    if not with_code:
        later = (entry for entry in entries if _has_code(entry))
        with_code = sorted(later, key=lambda entry: not entry.code_commit)[:1]
    if not with_code:
        return Points(None, head, passed=passed)
    if head is None:
        return Points(with_code[-1], None, passed=passed)
    alike = [entry for entry in with_code if entry.code_branch == head.code_branch]
    # A pass has a snapshot.
    passes = [entry for entry in alike or with_code if entry.ball is not None]
    base = (passes or alike or with_code)[-1]
    return Points(base, head, is_fork=not alike, passed=passed)


def head_entry(entries: Sequence[Entry], viewer: Viewer) -> Entry | None:
    """The latest entry with the place of the others' work: if possible the one that
    passed the ball to ``viewer``, otherwise the latest that moved it. ``None`` if no
    one else has written on any code."""
    of_others = [
        entry
        for entry in reversed(entries)
        if _has_code(entry) and not viewer.is_me(entry.agent)
    ]
    to_me = (entry for entry in of_others if _holder_is(entry, viewer))
    moves = (entry for entry in of_others if entry.ball is not None)
    return next(to_me, None) or next(moves, None) or next(iter(of_others), None)


def approved_branch(thread: Thread, base: str) -> str:
    """The branch that was approved, as of its `work_branch` at that time."""
    state, review = thread.state, thread.state.review
    before = takewhile(lambda entry: entry.id != review.id, thread.entries)
    return work_branch(state.branch, before, review.by.__eq__, base)


def work_branch(
    branch: str, entries: Iterable[Entry], is_reviewer: Callable[[str], bool], base: str
) -> str:
    """The branch whose work a review is about: ``branch``, that of the thread, unless
    it is ``base``, otherwise the last one on which someone other than the reviewer has
    written. Empty if no entry says on which branch it was written."""
    # A thread of a worktree without a branch has the name of that, with a dot.
    if branch != base and not branch.startswith("."):
        return branch
    branches = [
        entry.code_branch
        for entry in entries
        if entry.code_branch not in {"", base} and not is_reviewer(entry.agent)
    ]
    return branches[-1] if branches else ""


def _has_code(entry: Entry) -> bool:
    return bool(entry.code_branch or entry.code_commit)


def _holder_is(entry: Entry, viewer: Viewer) -> bool:
    holder = entry.ball.holder if entry.ball is not None else None
    return holder is not None and viewer.holds(holder)


def _last_pass(entries: Sequence[Entry], viewer: Viewer) -> int:
    """The position of the last entry after which the viewer no longer had the ball, or
    with which they gave it away; -1 if there is none."""
    position, is_mine = -1, False
    for idx, entry in enumerate(entries):
        if entry.ball is None:
            continue
        was_mine = is_mine or viewer.is_me(entry.agent)
        is_mine = _holder_is(entry, viewer)
        if was_mine and not is_mine:
            position = idx
    return position
