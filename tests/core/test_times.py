"""Times in and out."""

from __future__ import annotations

import contextlib
import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.core.strategies import NOON_MS, entry_id, relaxed
from wc_core.base import ulid
from wc_core.base.errors import InvalidInputError
from wc_core.base.times import (
    age,
    coming_day_ms,
    milliseconds,
    rfc3339,
    since_id,
    span,
    utc,
    with_local_times,
)

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("2026-01-31T12:00:00Z", "2026-01-31T12:00:00Z"),
        ("2026-01-31T12:00:00.123456Z", "2026-01-31T12:00:00.123456Z"),
        ("2026-01-31T12:00:00+00:00", "2026-01-31T12:00:00Z"),
        ("2026-01-31T12:00:00.5+00:00", "2026-01-31T12:00:00.5Z"),
        ("2026-01-31T12:00:00+02:00", "2026-01-31T10:00:00Z"),
        ("2026-01-31T23:30:00.25-05:30", "2026-02-01T05:00:00.250000Z"),
        ("2026-01-31T12:00:00", "2026-01-31T12:00:00Z"),
        ("2026-01-31 12:00", "2026-01-31T12:00:00Z"),
        # What is no time stays as it is, and so does what UTC cannot say.
        ("", ""),
        ("yesterday", "yesterday"),
        ("2026-13-01T00:00:00+01:00", "2026-13-01T00:00:00+01:00"),
        ("0001-01-01T00:00:00+14:00", "0001-01-01T00:00:00+14:00"),
        ("9999-12-31T23:59:59-14:00", "9999-12-31T23:59:59-14:00"),
    ],
)
def test_a_time_is_shown_in_utc(text: str, same: str) -> None:
    assert utc(text) == same


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("1970-01-01T00:00:00Z", 0),
        ("1970-01-01T00:00:01.5Z", 1500),
        ("1970-01-01T02:00:00+02:00", 0),
        ("1970-01-02", 86_400_000),
        ("1969-12-31T23:59:59Z", -1000),
        ("0001-01-01T00:00:00+14:00", -62_135_647_200_000),
        ("soon", None),
        ("", None),
    ],
)
def test_a_time_is_so_many_milliseconds_after_1970(
    text: str, moment: int | None
) -> None:
    assert milliseconds(text) == moment


@given(st.datetimes(timezones=st.just(UTC)))
@example(datetime(2000, 2, 29, tzinfo=UTC))
@example(datetime(1900, 3, 1, tzinfo=UTC))
@example(datetime(1, 1, 1, tzinfo=UTC))
@example(datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC))
def test_every_moment_is_read_as_the_library_reads_it(moment: datetime) -> None:
    moment = moment.replace(microsecond=moment.microsecond // 1000 * 1000)
    text = moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    ours = milliseconds(text), milliseconds(f"{text[:19]}Z")
    second = round(moment.replace(microsecond=0).timestamp() * 1000)
    assert ours == (second + moment.microsecond // 1000, second)


@given(st.text(st.sampled_from("0123456789-T:Z٣"), min_size=10, max_size=10))
@example("2026-02-29")
@example("2026-00-10")
@example("2026-13-01")
@example("0000-01-01")
@example("2026-01-00")
def test_a_day_is_one_for_us_if_it_is_one_for_the_library(day: str) -> None:
    assert_as_the_library(f"{day}T00:00:00Z")


@given(st.text(st.sampled_from("0123456789.,:Z+٣ "), min_size=5, max_size=9))
@example(".1234Z")
@example(".12Z")
@example(",123Z")
@example(" 123Z")
@example("2.12Z")
def test_an_end_is_one_for_us_if_it_is_one_for_the_library(end: str) -> None:
    assert_as_the_library(f"2026-01-31T12:00:00{end}")


def assert_as_the_library(text: str) -> None:
    """Parse a time, and compare it with the library's answer."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        assert milliseconds(text) is None
    else:
        moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        assert milliseconds(text) == round(moment.timestamp() * 1000)


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-01-01T11:00:00Z", NOON_MS - 3_600_000),
        ("2026-01-01", NOON_MS - 12 * 3_600_000),
        ("90m", NOON_MS - 90 * 60_000),
        (" 3H ", NOON_MS - 3 * 3_600_000),
        ("2d", NOON_MS - 2 * 86_400_000),
        ("1w", NOON_MS - 7 * 86_400_000),
        ("0s", NOON_MS),
    ],
)
def test_since_takes_in_the_first_entry_of_that_moment(text: str, moment: int) -> None:
    floor = since_id(text, NOON_MS)
    assert floor < ulid.encode(moment << 80)
    assert floor >= ulid.encode((moment << 80) - 1)


@pytest.fixture
def in_auckland(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "Pacific/Auckland")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


# Thursday, 09:30 in New Zealand; summer time began there on Sunday, 27 September.
THURSDAY = milliseconds("2026-09-30T20:30:00Z") or 0


@pytest.mark.usefixtures("in_auckland")
@pytest.mark.parametrize(
    ("text", "start"),
    [
        ("today", "2026-10-01T00:00:00+13:00"),
        ("Yesterday", "2026-09-30T00:00:00+13:00"),
        ("monday", "2026-09-28T00:00:00+13:00"),
        (" Thursday ", "2026-10-01T00:00:00+13:00"),
        ("friday", "2026-09-25T00:00:00+12:00"),
        ("this week", "2026-09-28T00:00:00+13:00"),
        ("last week", "2026-09-21T00:00:00+12:00"),
    ],
)
def test_since_takes_days_in_words(text: str, start: str) -> None:
    moment = milliseconds(start)
    assert moment is not None
    assert since_id(text, THURSDAY) == ulid.encode((moment << 80) - 1)


@pytest.mark.usefixtures("in_auckland")
@pytest.mark.parametrize(
    ("text", "start"),
    [
        ("tomorrow", "2026-10-02T00:00:00+13:00"),
        (" Friday ", "2026-10-02T00:00:00+13:00"),
        ("wednesday", "2026-10-07T00:00:00+13:00"),
        ("thursday", "2026-10-08T00:00:00+13:00"),
        ("someday", ""),
    ],
)
def test_a_coming_day_is_named_in_words(text: str, start: str) -> None:
    assert coming_day_ms(text, THURSDAY) == milliseconds(start)


@pytest.mark.parametrize(
    ("text", "floor"),
    [
        ("1960-01-01", ulid.encode(0)),
        ("999999999w", ulid.encode(0)),
        ("9999-12-31", ulid.encode((253402214400000 << 80) - 1)),
        (entry_id(3), entry_id(3)),
        (f" {entry_id(3)}-claude-topic ", f"{entry_id(3)}-claude-topic"),
    ],
)
def test_since_takes_any_time_and_any_entry(text: str, floor: str) -> None:
    assert since_id(text, NOON_MS) == floor


@pytest.mark.parametrize(
    "text", ["", "soon", "3", "h", "-3h", "3y", "1.5h", "9" * 5000 + "d", "²d"]
)
def test_since_says_what_it_understands(text: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        since_id(text, NOON_MS)
    assert "3h" in caught.value.hint


@relaxed
@given(st.text(max_size=12) | st.text("0123456789+:TZ .-", max_size=30))
def test_no_text_makes_a_time_raise(text: str) -> None:
    utc(text)
    milliseconds(text)
    age(text, NOON_MS)
    with contextlib.suppress(InvalidInputError):
        assert ulid.prefix(since_id(text, NOON_MS))


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (-5, "now"),
        (0, "now"),
        (59, "now"),
        (60, "1m"),
        (3599, "59m"),
        (3600, "1h"),
        (86_399, "23h"),
        (86_400, "1d"),
        (604_799, "6d"),
        (604_800, "1w"),
        (60 * 604_800, "60w"),
    ],
)
def test_an_age_is_shown_in_one_unit(seconds: int, text: str) -> None:
    assert age("2026-01-01T12:00:00Z", NOON_MS + seconds * 1000) == text


def test_the_age_of_what_is_not_a_time_is_not_known() -> None:
    assert age("then", NOON_MS) == "?"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (-5, "0s"),
        (0, "0s"),
        (59, "59s"),
        (60, "1m"),
        (125, "2m 5s"),
        (3600, "1h"),
        (3605, "1h"),
        (90_060, "1d 1h"),
        (400 * 86_400, "400d"),
    ],
)
def test_a_duration_is_shown_in_two_units(seconds: int, text: str) -> None:
    assert span(seconds) == text


@given(st.integers(-(10**13), 10**14))
def test_a_moment_in_words_is_that_moment(moment: int) -> None:
    assert milliseconds(rfc3339(moment)) == moment


@pytest.mark.usefixtures("in_auckland")
@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("waits for 2026-01-31 12:00Z", "waits for 2026-02-01 01:00 NZDT"),
        ("2026-07-31 12:00:59.123Z +1", "2026-08-01 00:00 NZST +1"),
        ("waits for 2026-01-31", "waits for 2026-01-31"),
        ("2026-99-31 12:00Z", "2026-99-31 12:00Z"),
    ],
)
def test_times_in_words_are_local(text: str, shown: str) -> None:
    assert with_local_times(text) == shown
