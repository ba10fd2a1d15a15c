"""What the small files of the status line say about balls, by name and content."""

from __future__ import annotations

import tempfile
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from wc_cli.agents.briefing import dialects
from wc_core.attention.status import files, holders, listings
from wc_core.attention.status.files import StatusView
from wc_core.attention.status.holders import HeldBall
from wc_core.base import ulid
from wc_core.base.layout import Layout, key_of, safe_name
from wc_core.ledger.threads.model import State

TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
# Only a name that was cut has these two characters.
SHORT = TEXTS.filter(lambda text: "%~" not in safe_name(text))
KEYS = st.from_regex(r"[a-z]{1,9}(@[a-z/%*]{1,9})?(\([a-z]{1,5}\))?", fullmatch=True)


@given(SHORT)
def test_a_file_name_gives_back_what_it_was_made_of(key: str) -> None:
    assert key_of(safe_name(key)) == key


def test_of_a_name_that_was_cut_nobody_knows_what_it_was() -> None:
    assert key_of(safe_name("x" * 1000)) == ""


@given(SHORT.filter(bool), st.integers(0, (1 << 128) - 1))
def test_a_ball_is_known_by_the_name_of_its_file(topic: str, number: int) -> None:
    since = ulid.encode(number)
    held = HeldBall("codex", files.file_name(State(topic, since=since)))
    assert (held.topic, held.since, held.is_free) == (topic, since, False)


@given(st.dictionaries(KEYS, st.integers(0, 10**6), max_size=40), KEYS)
def test_everyone_sees_their_own_number_or_none(
    new: dict[str, int], asking: str
) -> None:
    view = StatusView(State("auth", ball="Codex", entry_count=7), new)
    data = files.status_files(view)["status/branch/auth/.t/codex/" + "0" * 26 + ".auth"]
    shown = holders.parse_status(data, safe_name(asking))
    assert shown is not None
    assert shown.holder == "Codex"
    if shown.listed:
        assert shown.new == new[asking]
    else:
        # Left out for lack of room, where nobody's number is known.
        assert shown.new == (None if asking in new else shown.new)
        assert shown.new in {7, None}


@given(st.sampled_from(["OPEN", "IN_REVIEW", "BLOCKED", "on hold"]), TEXTS, TEXTS)
def test_the_status_alone_is_what_the_whole_file_says(
    status: str, topic: str, ball: str
) -> None:
    state = State(topic, ball=ball, status=status, entry_count=1)
    [content, *_] = files.status_files(StatusView(state, {})).values()
    with tempfile.TemporaryDirectory() as root:
        layout = Layout(root)
        folder = Path(listings.root_of(layout), "pat")
        folder.mkdir(parents=True)
        (folder / "a").write_bytes(content)
        (folder / "b").write_bytes(b"wc9 OPEN\n")
        statuses = holders.thread_statuses(layout, "pat", ["b", "a", "missing"])
        assert holders.thread_statuses(layout, "nobody", ["a"]) == [""]
    whole = holders.parse_status(content, "pat")
    assert whole is not None
    assert statuses == ["", whole.status, ""]


NAMES = st.integers(0, 9).map(lambda number: f"{ulid.encode(number)}.t{number}")


@given(
    st.dictionaries(KEYS, st.lists(NAMES, unique=True).map(sorted), max_size=4),
    st.integers(1, 5),
    st.integers(0, 9).map(ulid.encode),
)
def test_the_ends_of_all_balls_are_found_at_the_ends_of_each_holder(
    names: dict[str, list[str]], count: int, before: str
) -> None:
    by_name = [ball.name for ball in holders.in_order(names)]
    assert by_name == sorted(by_name)
    latest = holders.latest_balls(names, count)
    assert [ball.name for ball in latest] == by_name[::-1][:count]
    earliest = holders.earliest_balls(names, count, before)
    old = [name for name in by_name if name < before]
    assert [ball.name for ball in earliest] == old[:count]
    assert all(ball.name in names[ball.folder] for ball in (*latest, *earliest))


@given(
    st.dictionaries(KEYS, st.lists(NAMES, unique=True).map(sorted), max_size=4),
    st.sets(NAMES),
)
def test_balls_that_are_not_known_keep_their_order(
    names: dict[str, list[str]], known: set[str]
) -> None:
    fresh = holders.without(names, known)
    assert list(fresh) == list(names)
    expected = [ball for ball in holders.in_order(names) if ball.name not in known]
    assert [*holders.in_order(fresh)] == expected


@given(st.binary())
def test_whatever_stands_there_is_no_failure(data: bytes) -> None:
    holders.parse_status(data, "codex")
    dialects.parse_input(data)
