"""Which two points of the code someone has to compare."""

from __future__ import annotations

import pytest

from tests.core.strategies import chain, entry, entry_id, viewer
from wc_core.base.names import Directory
from wc_core.edits.review import keeping
from wc_core.edits.review.points import Points, approved_branch, points
from wc_core.ledger.threads.folding import fold
from wc_core.ledger.threads.model import FREE, Ball, Entry
from wc_core.ledger.threads.reader import Thread
from wc_core.ledger.threads.snapshot import Snapshot

PAT, CLAUDE, CODEX = "Pat", "Claude Code@login (Pat)", "Codex@review (Pat)"


def passed(step: int, by: str, to: str | None, branch: str = "main") -> Entry:
    ball = FREE if to is None else Ball(to)
    return entry(step, by, ball=ball, code_branch=branch, code_commit=f"{step:040}")


def said(step: int, by: str, branch: str = "main") -> Entry:
    return entry(step, by, code_branch=branch, code_commit=f"{step:040}")


# Pat asks Claude, who asks Codex for a review, in three worktrees, twice.
LOOP = (
    passed(0, PAT, CLAUDE),
    passed(1, CLAUDE, CODEX, "login"),
    passed(2, CODEX, CLAUDE, "review"),
    said(3, CLAUDE, "login"),
    passed(4, CLAUDE, CODEX, "login"),
)


@pytest.mark.parametrize(
    ("branches", "expected"),
    [
        (("login", "other"), "login"),
        (("main", "login"), "login"),
        (("main", "login", "later", "main"), "later"),
        (("", "login"), "login"),
        (("main", "main"), ""),
    ],
)
def test_the_approved_branch_is_the_thread_s_or_the_author_s(
    branches: tuple[str, ...], expected: str
) -> None:
    entries = [passed(n, CLAUDE, CODEX, name) for n, name in enumerate(branches)]
    outcome = entry(8, CODEX, outcome="approved", code_branch="review")
    later = passed(9, CLAUDE, CODEX, "unseen")
    written = tuple(chain(*entries, outcome, later))
    thread = Thread(Snapshot(fold("t", written), 0, True), written)
    assert approved_branch(thread, "main") == expected


def test_a_thread_of_a_worktree_without_a_branch_has_that_of_the_author() -> None:
    written = tuple(
        chain(
            entry(0, PAT, ball=Ball(CLAUDE)),
            passed(1, CLAUDE, CODEX, "login"),
            entry(2, CODEX, outcome="approved"),
        )
    )
    state = fold("t", written)._replace(branch=".main")
    thread = Thread(Snapshot(state, 0, True), written)
    assert approved_branch(thread, "main") == "login"


def found(entries: tuple[Entry, ...], me: str) -> tuple[int, int, bool, int]:
    """The steps of base and head, whether it is a fork, and the step of the pass."""
    pair = points(entries, viewer(me))
    steps = [
        -1 if item is None else [one.id for one in entries].index(item.id)
        for item in (pair.base, pair.head, pair.passed)
    ]
    return steps[0], steps[1], pair.is_fork, steps[2]


@pytest.mark.parametrize(
    ("entries", "me", "expected"),
    [
        # The first review: since the branch left that of who asked.
        (LOOP[:2], CODEX, (0, 1, True, -1)),
        # The next one: since what was passed on then.
        (LOOP, CODEX, (1, 4, False, 2)),
        # Who asked sees everything.
        (LOOP, PAT, (0, 4, True, 0)),
        # The author sees what the critic has done.
        (LOOP[:3], CLAUDE, (1, 2, True, 1)),
        # Two in one worktree: since I passed it.
        (
            (passed(0, PAT, CODEX), passed(1, CODEX, PAT)),
            PAT,
            (0, 1, False, 0),
        ),
        # A remark in between is not a pass, and has no snapshot.
        (
            (passed(0, PAT, CODEX), said(1, PAT), passed(2, CODEX, PAT)),
            PAT,
            (0, 2, False, 0),
        ),
        # Nobody else: since the beginning, to this worktree.
        ((said(0, PAT), said(1, PAT)), PAT, (0, -1, False, -1)),
        # A ball that was taken from me was passed then.
        (
            (
                passed(0, PAT, CODEX),
                passed(1, CODEX, PAT),
                passed(2, CODEX, CODEX),
                passed(3, CODEX, PAT),
            ),
            PAT,
            (2, 3, False, 2),
        ),
        # An older tool says nothing of code.
        ((entry(0, PAT, ball=Ball(CODEX)),), PAT, (-1, -1, False, 0)),
        ((), PAT, (-1, -1, False, -1)),
    ],
)
def test_points(
    entries: tuple[Entry, ...], me: str, expected: tuple[int, int, bool, int]
) -> None:
    assert found(entries, me) == expected


def test_what_passed_me_the_ball_comes_before_remarks_of_others() -> None:
    entries = (*LOOP, said(5, "Cursor (sam)", "other"))
    assert found(entries, CODEX)[1] == 4
    assert points(entries[:1], viewer(CODEX)) == Points(LOOP[0], LOOP[0])


# --- which snapshots are kept ---------------------------------------------------

NOW_MS = 1_767_268_800_000 + 3_600_000
DAY_MS = 24 * 3600 * 1000


def kept(entries: tuple[Entry, ...], now_ms: int = NOW_MS) -> set[int]:
    """The steps whose snapshots are needed, of one for each entry."""
    state = fold("t", entries)
    thread = Thread(Snapshot(state, 0, True), entries)
    ids = [one.id for one in entries]
    needed = keeping.needed(thread, [*ids, "unknown"], Directory(), now_ms)
    return {ids.index(item) for item in needed}


def test_the_last_of_each_and_what_a_review_begins_with_are_kept() -> None:
    # 0 is Pat's; Codex begins with 1, and 3 is not a pass.
    assert kept(LOOP) == {0, 1, 2, 4}
    again = (
        *LOOP,
        passed(5, CODEX, CLAUDE, "review"),
        passed(6, CLAUDE, CODEX, "login"),
    )
    assert kept(again) == {0, 4, 5, 6}


def test_old_ones_and_those_of_closed_threads_are_not() -> None:
    assert kept(LOOP, NOW_MS + 31 * DAY_MS) == set()
    closed = entry(9, PAT, status="CLOSED", ball=FREE)
    assert kept((*LOOP, closed)) == set()


def test_the_ref_is_made_of_topic_and_entry() -> None:
    assert keeping.ref_of("login", entry_id(1)) == f"refs/wc/seen/login/{entry_id(1)}"
