"""Entries take effect after their parents, whatever the clocks said."""

from __future__ import annotations

import itertools
from random import Random  # noqa: TC003 - hypothesis reads the annotation

from hypothesis import given
from hypothesis import strategies as st

from wc_core.base import ulid
from wc_core.ledger.threads import codec, folding
from wc_core.ledger.threads.folding import in_effect_order, in_order
from wc_core.ledger.threads.model import Ball, Entry, ancestors, parent_graph

YEAR = 365 * 24 * 3600 * 1000
NOW = 1_800_000_000_000


def entry(
    moment: int, number: int, *parents: Entry, agent: str = "Codex", to: str = ""
) -> Entry:
    """An entry with an id of that time; ``number`` tells it from others."""
    ball = Ball(to) if to else None
    own = ulid.encode(moment << ulid.RANDOM_BITS | number)
    names = tuple(parent.id for parent in parents)
    return Entry(
        own, "t", agent, "2026-01-01T00:00:00Z", str(number), ball=ball, parents=names
    )


def _id(item: Entry) -> str:
    return item.id


@st.composite
def histories(draw: st.DrawFn, clocks: st.SearchStrategy[int]) -> list[Entry]:
    """Entries of clones that saw some heads each, with clocks that jump."""
    written: list[Entry] = []
    for number in range(draw(st.integers(1, 9))):
        seen = written[-1:]
        if written:
            several = st.lists(st.sampled_from(written), min_size=1, unique_by=_id)
            seen = draw(several)
        moment = NOW + number + draw(clocks)
        written.append(entry(moment, number, *seen, to=draw(st.sampled_from("ab"))))
    return written


@given(histories(st.sampled_from((0, 0, -20 * YEAR, 3 * YEAR))), st.randoms())
def test_no_entry_comes_before_its_parents(written: list[Entry], dice: Random) -> None:
    ordered = in_effect_order(written)
    assert sorted(map(_id, ordered)) == sorted(map(_id, written))
    graph = parent_graph(ordered)
    done: set[str] = set()
    for item in ordered:
        assert done.issuperset(graph[item.id])
        done.add(item.id)
    # Every clone has the same order, in whatever order it got the lines.
    shuffled = [*written]
    dice.shuffle(shuffled)
    assert in_effect_order(shuffled) == ordered
    data = b"".join(codec.to_line(item, 0) for item in shuffled)
    assert [one.id for one in codec.read_log("t", data).entries] == [
        one.id for one in ordered
    ]


@given(histories(st.sampled_from((0, -20 * YEAR, 3 * YEAR))))
def test_of_entries_that_did_not_see_each_other_the_lesser_id_comes_first(
    written: list[Entry],
) -> None:
    ordered = in_effect_order(written)
    graph = parent_graph(ordered)
    for first, second in itertools.pairwise(ordered):
        if first.id not in ancestors([second.id], graph):
            assert first.id < second.id


@given(histories(st.just(0)))
def test_with_clocks_that_agree_it_is_the_order_of_ids(written: list[Entry]) -> None:
    assert in_effect_order(written) == in_order(written)


@given(histories(st.sampled_from((0, -20 * YEAR, 3 * YEAR))), st.integers(-20, 5))
def test_a_ball_can_always_be_passed_on(written: list[Entry], years: int) -> None:
    """Whoever sees all entries decides, whatever time their clock has."""
    state = folding.fold("t", in_effect_order(written))
    names = {item.id: item for item in written}
    heads = [names[head] for head in state.heads]
    latest = entry(NOW + years * YEAR, 99, *heads, to="Pat")
    after = folding.fold("t", in_effect_order([*written, latest]))
    assert (after.ball, after.heads) == ("Pat", (latest.id,))
    assert after == folding.apply(state, latest)


def test_entries_that_name_each_other_keep_the_order_of_ids() -> None:
    first, second = entry(NOW, 1), entry(NOW + 1, 2)
    first = first._replace(parents=(second.id,))
    second = second._replace(parents=(first.id,))
    third = entry(NOW + 2, 3, second)
    assert in_effect_order([third, second, first]) == [first, second, third]


def test_an_entry_that_names_itself_keeps_its_place() -> None:
    first = entry(NOW, 1)
    own = entry(NOW + 1, 2)
    own = own._replace(parents=(own.id, first.id))
    assert in_effect_order([own, first]) == [first, own]


def test_the_entries_of_an_older_tool_follow_what_precedes_them() -> None:
    ahead = entry(NOW + 3 * YEAR, 1)
    answer = entry(NOW, 2, ahead)
    older = entry(NOW + 5, 3)._replace(parents=None)
    assert in_effect_order([older, answer, ahead]) == [ahead, answer, older]
