"""ULIDs against an independent reading of https://github.com/ulid/spec."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.core.strategies import NOON_MS, relaxed
from wc_core.base import ulid

HOUR_MS = 60 * 60 * 1000
MAX_MS = (1 << 48) - 1
CROCKFORD = "0123456789abcdefghjkmnpqrstvwxyz".upper()


def spelt(milliseconds: int, randomness: int) -> str:
    """The specification in big integers: 48 bits of time, 80 of randomness,
    most significant first, five bits a character."""
    raw = milliseconds.to_bytes(6, "big") + randomness.to_bytes(10, "big")
    bits = f"{int.from_bytes(raw, 'big'):0130b}"
    return "".join(CROCKFORD[int(bits[at : at + 5], 2)] for at in range(0, 130, 5))


times = st.integers(0, MAX_MS)
randoms = st.integers(0, (1 << 80) - 1)


@relaxed
@given(times, randoms)
@example(0, 0)
@example(MAX_MS, (1 << 80) - 1)
def test_ids_are_spelt_as_the_specification_says(now: int, random: int) -> None:
    made = ulid.successor("", now, random)
    assert made == spelt(now, random)
    assert ulid.prefix(made) == made
    assert ulid.timestamp_ms(made) == now
    assert ulid.decode(made) == now << 80 | random
    assert ulid.encode(ulid.decode(made)) == made


def test_the_example_of_the_specification_is_read_as_it_says() -> None:
    assert ulid.timestamp_ms("01ARZ3NDEKTSV4RRFFQ69G5FAV") == 1469922850259
    assert spelt(MAX_MS, (1 << 80) - 1) == "7ZZZZZZZZZZZZZZZZZZZZZZZZZ"


@relaxed
@given(times, randoms, times, randoms)
def test_text_order_is_number_order(a: int, b: int, c: int, d: int) -> None:
    assert (spelt(a, b) < spelt(c, d)) == ((a, b) < (c, d))


@relaxed
@given(
    st.lists(
        st.tuples(st.integers(-HOUR_MS, HOUR_MS), randoms), min_size=2, max_size=20
    )
)
def test_ids_grow_even_if_the_clock_goes_back_an_hour(
    steps: list[tuple[int, int]],
) -> None:
    last = ""
    for offset, random in steps:
        made = ulid.successor(last, NOON_MS + offset, random)
        assert made > last
        assert ulid.prefix(made) == made
        last = made


def test_two_machines_that_continue_the_same_id_do_not_meet() -> None:
    last = spelt(NOON_MS, 5)
    assert ulid.successor(last, NOON_MS - 1, 1) != ulid.successor(last, NOON_MS - 1, 2)


@pytest.mark.parametrize(
    ("ahead_ms", "followed"),
    [(ulid.FUTURE_MS, True), (ulid.FUTURE_MS + 1, False)],
)
def test_an_id_more_than_a_day_ahead_is_not_followed(
    ahead_ms: int, *, followed: bool
) -> None:
    last = spelt(NOON_MS + ahead_ms, 0)
    made = ulid.successor(last, NOON_MS, 9)
    assert (made > last) is followed
    assert followed or made == spelt(NOON_MS, 9)


def test_the_very_last_id_has_no_successor() -> None:
    last = "7" + "Z" * 25
    assert ulid.successor(last, MAX_MS, 0) == last


ONE = "01ARZ3NDEKTSV4RRFFQ69G5FAV"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (ONE, ONE),
        (f"{ONE}-claude-topic", ONE),
        (f"{ONE}-", ONE),
        (f"{ONE}x", ""),
        (f"{ONE}_claude", ""),
        (ONE[:-1], ""),
        (ONE.lower(), ""),
        (f"8{ONE[1:]}", ""),
        (ONE.replace("A", "U"), ""),
        (ONE.replace("A", "I"), ""),
        ("", ""),
    ],
)
def test_the_ulid_an_entry_id_is_or_begins_with(text: str, found: str) -> None:
    assert ulid.prefix(text) == found
