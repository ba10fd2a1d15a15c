"""Who held the ball, for how long: a fold that is total."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.strategies import (
    AGENTS,
    NOON_MS,
    chain,
    entries,
    entry,
    entry_id,
    forked_logs,
    linear_logs,
    relaxed,
)
from wc_core.base import ulid
from wc_core.base.names import Directory, parse
from wc_core.ledger.threads import folding
from wc_core.ledger.threads.model import Ball, Base, Entry, State
from wc_core.reading.views.history import BallHistory, ball_history
from wc_core.reading.views.holding import STALE_MS, is_stale, since_ms

A, B, C = AGENTS
HOUR_MS = 3600 * 1000
NOW_MS = NOON_MS + HOUR_MS


def key(name: str) -> str:
    return Directory().key(parse(name))


def told(
    found: list[Entry], meta: Base | None = None, now_ms: int = NOW_MS
) -> tuple[State, BallHistory]:
    state = folding.fold("t", found, meta)
    return state, ball_history(state, found, now_ms, key)


def passes(*holders: str | None) -> list[Entry]:
    """The first entry at noon, each a minute after the one before."""
    balls = [Ball(one) for one in holders]
    return chain(*(entry(step * 60, A, ball=one) for step, one in enumerate(balls)))


def lengths(found: BallHistory) -> list[tuple[str | None, int]]:
    return [(one.holder, one.ms // 1000) for one in found.spells]


@pytest.mark.parametrize(
    ("holders", "changes", "bounces"),
    [
        ((A,), 0, 0),
        ((A, B), 1, 0),
        ((A, B, A), 2, 1),
        ((A, B, A, B), 3, 2),
        ((A, B, C, A), 3, 0),
        # Let go and taken again is not a bounce, and nobody bounces nothing.
        ((A, None, A), 2, 0),
        ((None, A, None), 2, 0),
        # One name in two spellings has not passed it on.
        ((A, "codex(PAT)", B), 1, 0),
        (("Claude (pat)", A, "claude code (pat)"), 2, 1),
    ],
)
def test_how_often_it_changed_hands_and_bounced(
    holders: tuple[str | None, ...], changes: int, bounces: int
) -> None:
    _, found = told(passes(*holders))
    assert (found.changes, found.bounces) == (changes, bounces)


def test_a_clock_that_runs_backwards_makes_a_spell_of_no_length() -> None:
    late = entry(120, A, ball=Ball(A))
    # Its id is greater, as ids are; its clock was an hour behind.
    early = entry(120, B, ball=Ball(B), at="2026-01-01T11:02:00Z", id=f"{late.id}-b")
    foreign = entry(0, C, ball=Ball(C), id="no-ulid", at="2026-01-01T10:00:00Z")
    _, found = told([late, early, foreign])
    assert lengths(found) == [(A, 0), (B, 0), (C, 3480)]


def test_what_an_older_tool_did_is_not_known() -> None:
    foreign = [entry(0, A), entry(60, B), entry(120, A)]
    base = Base(ball=B)
    _, alone = told(foreign, base)
    assert lengths(alone) == [(None, 120), (B, 3480)]
    assert [one.known for one in alone.spells] == [False, True]
    ours = entry(180, B, base=base, parents=(entry_id(120),), ball=Ball(A))
    _, continued = told([*foreign, ours])
    assert lengths(continued) == [(None, 120), (B, 60), (A, 3420)]
    assert (continued.changes, continued.free_ms) == (1, 0)


@relaxed
@given(
    linear_logs()
    | linear_logs(recorded=False)
    | forked_logs()
    | st.lists(entries, max_size=4),
    st.none() | st.builds(Base, ball=st.none() | st.sampled_from(AGENTS)),
    st.integers(NOON_MS - HOUR_MS, NOON_MS + HOUR_MS),
)
def test_spells_tile_the_time_and_end_where_the_fold_does(
    found: list[Entry], meta: Base | None, now_ms: int
) -> None:
    in_order = folding.in_effect_order(found)
    state, past = told(in_order, meta, now_ms)
    assert bool(past.spells) == bool(in_order)
    for one, following in pairwise(past.spells):
        assert one.start <= one.end == following.start
    if past.current is not None:
        assert past.current.end == now_ms
        assert past.current.holder == state.ball
        assert past.current.entry_id == state.since
    whole = now_ms - past.spells[0].start if past.spells else 0
    unknown = sum(one.ms for one in past.spells if not one.known)
    assert unknown + sum(one.ms for one in past.holders()) == whole
    assert past.bounces <= max(0, past.changes - 1)


@pytest.mark.parametrize(
    ("changes", "stale"),
    [
        ({}, True),
        ({"since": entry_id(1)}, False),
        ({"status": "BLOCKED"}, True),
        ({"status": "CLOSED"}, False),
        ({"ball": None}, False),
        # No entry gave it: it has been there since the last entry at least.
        ({"since": "", "last_id": entry_id(0)}, True),
        ({"since": "", "last_id": entry_id(1)}, False),
        ({"since": "x", "updated_at": "2026-01-01T12:00:00Z"}, True),
        ({"since": "x", "updated_at": "soon"}, False),
    ],
)
def test_a_ball_is_stale_that_someone_holds_for_too_long(
    changes: dict[str, str | None],
    stale: bool,  # noqa: FBT001
) -> None:
    state = State("t", ball=A, since=entry_id(0))._replace(**changes)  # type: ignore[arg-type]
    assert is_stale(state, NOON_MS + STALE_MS + 1) is stale


@pytest.mark.parametrize(
    ("opened", "passed", "since"), [(0, 5, 5), (99, 5, 5), (9, 5, 9)]
)
def test_a_ball_is_not_held_since_before_its_thread(
    opened: int, passed: int, since: int
) -> None:
    """Unless the first entry is dated after now. The numbers are days."""
    days = [NOON_MS + day * 86_400_000 for day in (opened, passed, since)]
    first, latest = (ulid.successor("", moment, 0) for moment in days[:2])
    state = State("t", ball=A, first_id=first, since=latest, last_id=first)
    assert since_ms(state, NOON_MS + 10 * 86_400_000) == days[2]
