"""The fold: what a log says, however it came to be."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.strategies import (
    AGENTS,
    agents,
    chain,
    entry,
    entry_id,
    forked_logs,
    linear_logs,
    relaxed,
)
from wc_core.ledger.threads import codec, folding, model
from wc_core.ledger.threads.model import FREE, Ball, Base, Entry

PAT, CLAUDE, SAM = AGENTS


@relaxed
@given(linear_logs(), st.none() | st.builds(Base, st.text(), ball=st.none() | agents))
def test_applying_one_entry_at_a_time_is_the_fold_of_them_all(
    log: list[Entry], base: Base | None
) -> None:
    if base is not None and log:
        log[0] = log[0]._replace(base=base)
    state = model.initial_state("t", base if log else None)
    for one in log:
        assert one.parents == state.heads
        state = folding.apply(state, one)
    assert state == folding.fold("t", log)


@relaxed
@given(linear_logs())
def test_the_last_ball_and_the_last_status_win(log: list[Entry]) -> None:
    state = folding.fold("t", log)
    balls = [one.ball.holder for one in log if one.ball is not None]
    found = [one.status for one in log if one.status]
    assert state.ball == (balls[-1] if balls else None)
    assert state.status == (found[-1] if found else "OPEN")
    assert state.entry_count == len(log)
    if log:
        assert state.created_at == log[0].at
        assert (state.updated_at, state.updated_by) == (log[-1].at, log[-1].agent)
        assert state.last_id == log[-1].id
        assert state.heads == (log[-1].id,)


@relaxed
@given(linear_logs(), forked_logs(), st.randoms())
def test_the_order_of_the_lines_does_not_matter(
    linear: list[Entry], forked: list[Entry], random: object
) -> None:
    for log in (linear, forked):
        lines = [codec.to_line(one, 0) for one in log]
        random.shuffle(lines)  # type: ignore[attr-defined]
        found = codec.read_log("t", b"".join(lines))
        assert folding.fold("t", found.entries) == folding.fold("t", log)


@relaxed
@given(linear_logs())
def test_a_thread_belongs_where_it_was_opened_or_moved_to(log: list[Entry]) -> None:
    opened = [one.code_branch for one in log if one.code_branch] or [""]
    moved = [one.thread_branch for one in log if one.thread_branch]
    assert folding.fold("t", log).branch == (moved[-1] if moved else opened[0])


@relaxed
@given(linear_logs())
def test_a_thread_has_all_names_that_it_was_given(log: list[Entry]) -> None:
    given_names = [one.new_topic for one in log if one.new_topic]
    state = folding.fold("t", log)
    assert {*state.names} == {*given_names}
    assert state.name == (given_names[-1] if given_names else "t")


def test_the_asker_opened_the_thread_or_reopened_it() -> None:
    log = chain(
        entry(1, PAT, ball=Ball(CLAUDE)),
        entry(2, CLAUDE, status="CLOSED", ball=FREE),
        entry(3, SAM, ball=FREE),
        entry(4, SAM, status="OPEN", ball=Ball(SAM)),
        entry(5, CLAUDE, status="BLOCKED"),
    )
    askers = [folding.fold("t", log[:end]).asker for end in range(1, 6)]
    assert askers == [PAT, PAT, PAT, SAM, SAM]


@pytest.mark.parametrize(
    ("changes", "bounces"),
    [
        ((), 0),
        (((PAT, CLAUDE),), 1),
        (((PAT, CLAUDE), (CLAUDE, PAT), (PAT, CLAUDE)), 3),
        (((PAT, CLAUDE), (CLAUDE, SAM)), 1),
        (((PAT, CLAUDE), (CLAUDE, None), (PAT, CLAUDE)), 2),
        (((PAT, CLAUDE), (CLAUDE, CLAUDE)), 1),
        (((PAT, CLAUDE), (CLAUDE, PAT), "IN_REVIEW"), 0),
        (((PAT, CLAUDE), "OPEN", (CLAUDE, PAT)), 2),
        (((PAT, CLAUDE), "BLOCKED", (CLAUDE, PAT)), 1),
    ],
)
def test_passes_between_the_same_two_are_counted(
    changes: tuple[tuple[str, str | None] | str, ...], bounces: int
) -> None:
    log = [
        entry(step, PAT, status=change)
        if isinstance(change, str)
        else entry(step, change[0], ball=Ball(change[1]))
        for step, change in enumerate(changes)
    ]
    assert folding.fold("t", chain(*log)).bounces == bounces


@pytest.mark.parametrize(
    ("previous", "passes"),
    [
        (SAM, [(CLAUDE, SAM)]),
        ("Claude Code (sam)", [(CLAUDE, "Claude Code (sam)")]),
        # These were offers to whoever takes them.
        (None, []),
        ("Claude Code", [("Claude Code", PAT)]),
        ("claude code (Pat)", [("claude code (Pat)", PAT)]),
    ],
)
def test_a_ball_that_is_taken_was_passed_by_its_holder(
    previous: str | None, passes: list[tuple[str, str]]
) -> None:
    log = chain(
        entry(1, PAT, ball=Ball(previous)),
        entry(2, CLAUDE, action="take", ball=Ball(CLAUDE)),
    )
    found = [tuple(one) for one in folding.fold("t", log).passes]
    assert [one for one in found if one[0] != SAM and one[0][-5:] != "(sam)"] == passes


# --- what is NEW -------------------------------------------------------------


def naive_new(author: str, log: list[Entry], cursor: tuple[str, ...]) -> set[str]:
    """The definition, word for word: not by me, not an ancestor of my last
    entry, not covered by the cursor."""
    parents: dict[str, tuple[str, ...]] = {}
    for before, one in pairwise([None, *log]):
        assert one is not None
        unrecorded = (before.id,) if before is not None else ()
        parents[one.id] = unrecorded if one.parents is None else one.parents

    def is_before(one: str, other: str, seen: frozenset[str] = frozenset()) -> bool:
        if one == other:
            return True
        return any(
            is_before(one, parent, seen | {other})
            for parent in parents.get(other, ())
            if parent not in seen
        )

    mine = [one.id for one in log if one.agent == author]
    covering = [*mine[-1:], *cursor]
    return {
        one.id
        for one in log
        if one.agent != author and not any(is_before(one.id, c) for c in covering)
    }


@relaxed
@given(linear_logs(), st.integers(0, 12), agents)
def test_the_count_of_new_entries_needs_no_log(
    log: list[Entry], read: int, author: str
) -> None:
    read = min(read, len(log))
    cursor = (log[read - 1].id,) if read else ()
    expected = naive_new(author, log, cursor)
    me = author.__eq__
    assert model.new_count(folding.fold("t", log), me, read) == len(expected)
    found = model.new_entries(me, log, cursor)
    assert [one.id for one in found] == sorted(expected)


@relaxed
@given(forked_logs(), st.lists(st.integers(0, 9), max_size=2), agents)
def test_new_entries_of_a_forked_log_follow_its_parents(
    log: list[Entry], read: list[int], author: str
) -> None:
    cursor = tuple(entry_id(step) for step in read)
    found = model.new_entries(author.__eq__, log, cursor)
    assert {one.id for one in found} == naive_new(author, log, cursor)
    state = folding.fold("t", log)
    assert state.new_for(author.__eq__) == len(naive_new(author, log, ()))


def test_two_spellings_of_one_participant_are_one() -> None:
    log = chain(entry(0, "Claude (pat)"), entry(1), entry(2, CLAUDE), entry(3))
    me = {"Claude (pat)", CLAUDE}.__contains__
    state = folding.fold("t", log)
    assert (state.new_for("Claude (pat)".__eq__), state.new_for(me)) == (3, 1)
    assert model.new_count(state, me, 0) == 1
    assert [one.id for one in model.new_entries(me, log)] == [entry_id(3)]
    # What I wrote under the other name is not new, whatever I had read.
    assert model.new_entries(me, log[:3], [entry_id(0)]) == []


def test_what_an_earlier_entry_of_mine_had_seen_is_new_after_another_root() -> None:
    theirs, mine = chain(entry(0, CLAUDE), entry(1, PAT))
    root = entry(2, PAT)._replace(parents=())
    log = [theirs, mine, root]
    assert [one.id for one in model.new_entries(PAT.__eq__, log)] == [theirs.id]


# --- forks -------------------------------------------------------------------


@relaxed
@given(forked_logs())
def test_heads_are_the_entries_nobody_names(log: list[Entry]) -> None:
    named = {parent for one in log for parent in one.parents or ()}
    named |= {a.id for a, b in pairwise(log) if b.parents is None}
    state = folding.fold("t", log)
    assert state.heads == tuple(one.id for one in log if one.id not in named)
    assert state.forked == (len(state.heads) > 1)


def test_a_fork_stands_until_an_entry_names_both_heads() -> None:
    root = entry(0, PAT, parents=(), ball=Ball(CLAUDE))
    one = entry(1, CLAUDE, parents=(root.id,), ball=Ball(PAT))
    other = entry(2, SAM, parents=(root.id,), status="BLOCKED", ball=FREE)
    state = folding.fold("t", [root, one, other])
    assert state.forked
    assert state.heads == (one.id, other.id)
    # Meanwhile the later id decides.
    assert (state.ball, state.status) == (None, "BLOCKED")
    assert [tuple(one) for one in state.participants] == [
        (PAT, 2),
        (CLAUDE, 1),
        (SAM, 1),
    ]

    heal = entry(3, PAT, parents=state.heads)
    healed = folding.fold("t", [root, one, other, heal])
    assert not healed.forked
    assert healed.heads == (heal.id,)
    assert healed.new_for(CLAUDE.__eq__) == 2
    after = entry(4, SAM, parents=healed.heads)
    assert folding.fold("t", [root, one, other, heal, after]).new_for(SAM.__eq__) == 0


@pytest.mark.parametrize(
    ("parents", "heads"),
    [
        ((entry_id(1),), ()),  # itself
        ((entry_id(77),), (entry_id(0), entry_id(1))),  # a line that is lost
        ((), (entry_id(0), entry_id(1))),
    ],
)
def test_parents_that_make_no_sense_are_survived(
    parents: tuple[str, ...], heads: tuple[str, ...]
) -> None:
    log = [entry(0), entry(1, parents=parents)]
    state = folding.fold("t", log)
    assert set(state.heads) >= set(heads)
    assert state.entry_count == 2
    assert model.ancestors([entry_id(1), "unknown"], model.parent_graph(log))


# --- where a log starts ------------------------------------------------------

META = Base("From meta", "IN_REVIEW", CLAUDE, "a summary")
OTHER = Base("From base", "BLOCKED", SAM, "another")


@pytest.mark.parametrize(
    ("log", "expected"),
    [
        ([], META),
        ([entry(1), entry(2)], META),
        # One field of ours, and the log speaks for itself.
        ([entry(1), entry(2, action="ack")], Base("title 1")),
        ([entry(1, parents=())], Base("title 1")),
        ([entry(1, status="OPEN")], Base("title 1")),
        ([entry(1, ball=FREE)], Base("title 1")),
        # The first base in the log is the start, whoever else has one.
        ([entry(1), entry(2, base=OTHER)], OTHER),
        ([entry(1, base=OTHER), entry(2, base=META)], OTHER),
        ([entry(1, base=Base())], Base("title 1")),
    ],
)
def test_a_log_starts_from_its_base_or_a_foreign_meta(
    log: list[Entry], expected: Base
) -> None:
    state = folding.fold("t", log, META)
    assert (state.title, state.status, state.ball, state.summary) == expected


# --- who passed the ball -----------------------------------------------------


def test_since_is_the_entry_that_gave_the_ball_to_its_holder() -> None:
    log = chain(
        entry(0, PAT, ball=Ball(CLAUDE)),
        entry(1, PAT),
        entry(2, SAM, ball=Ball(CLAUDE)),  # to the one who has it
        entry(3, CLAUDE, ball=Ball(SAM)),
    )
    since = [folding.fold("t", log[:end]).since for end in range(5)]
    assert since == ["", entry_id(0), entry_id(0), entry_id(0), entry_id(3)]


def test_the_holder_of_a_base_has_it_since_the_first_entry_that_says_so() -> None:
    log = chain(entry(0, base=Base(ball=PAT)), entry(1, ball=Ball(PAT)))
    assert [folding.fold("t", log[:end]).since for end in (1, 2)] == ["", entry_id(1)]


def test_passes_keep_the_last_one_to_each() -> None:
    log = chain(
        entry(0, PAT, ball=Ball(CLAUDE)),
        entry(1, CLAUDE, ball=Ball(CLAUDE)),  # taken, not passed
        entry(2, CLAUDE, ball=Ball(SAM)),
        entry(3, SAM, ball=Ball(CLAUDE)),
        entry(4, CLAUDE, ball=FREE),
    )
    passes = [
        [tuple(one) for one in folding.fold("t", log[:end]).passes] for end in range(6)
    ]
    assert passes[:3] == [[], [(CLAUDE, PAT)], [(CLAUDE, PAT)]]
    assert passes[3] == [(CLAUDE, PAT), (SAM, CLAUDE)]
    assert passes[4] == passes[5] == [(SAM, CLAUDE), (CLAUDE, SAM)]


def test_entries_with_one_id_stay_in_the_order_they_came_in() -> None:
    versions = [entry(1, title="b", extra={"x": []}), entry(1, title="a")]
    assert folding.in_order(versions) == versions
    assert folding.in_order(versions[::-1]) == versions[::-1]
