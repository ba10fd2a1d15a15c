"""Lines of a log: nothing lost on the way there and back, damage is a value."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.core.strategies import (
    DERIVED_KEYS,
    KNOWN_KEYS,
    entries,
    entry,
    entry_id,
    json_line,
    json_values,
    linear_logs,
    relaxed,
    texts,
)
from wc_core.base.errors import Damage
from wc_core.ledger.threads import codec, longlines
from wc_core.ledger.threads.codec import read_line, read_log, to_line
from wc_core.ledger.threads.model import FREE, Ball, Base, Entry

GOOD = to_line(entry(1), 0)
OTHER = to_line(entry(2), 1)
ENDS_OF_A_LINE = "a\nb\rc\x0bd\x0ce\x1cf\x1dg\x1eh\x85i\u2028j\u2029k\x7fl"


@relaxed
@given(entries, st.integers(0, 99))
@example(entry(1, title=ENDS_OF_A_LINE, body=ENDS_OF_A_LINE), 0)
@example(entry(1, extra={ENDS_OF_A_LINE: [ENDS_OF_A_LINE]}), 0)
def test_an_entry_comes_back_from_its_line_as_it_was(one: Entry, index: int) -> None:
    line = to_line(one, index)
    # A line for every reader, whatever it takes for the end of one.
    assert len(line.decode().splitlines()) == 1
    assert line.endswith(b"\n")
    found = read_line("t", line)
    assert found == one._replace(ball=_free_if_empty(one.ball))
    fields = json.loads(line)
    assert fields["id"] == f"entry:{one.id}"
    assert fields["type"] == "entry"
    assert (fields["thread_topic"], fields["index"]) == ("t", index)


def _free_if_empty(ball: Ball | None) -> Ball | None:
    return FREE if ball == Ball("") else ball


@pytest.mark.parametrize(
    "line",
    [
        b'{"entry_id":"%s","x":1}',
        b'  {"entry_id":"%s","x":1} \r',
        b'\xef\xbb\xbf{"entry_id":"%s","x":1}',
        b'{"x":1,"entry_id":"%s","agent":"","timestamp":""}',
    ],
)
def test_a_line_of_another_tool_needs_no_more_than_an_id(line: bytes) -> None:
    found = read_line("t", line.replace(b"%s", entry_id(1).encode()))
    assert found == Entry(entry_id(1), "t", "", "", extra={"x": 1})


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("agent", 5),
        ("timestamp", None),
        ("title", ["x"]),
        ("entry_type", None),
        ("body", {"a": 1}),
        ("ball", 5),
        ("status", ""),
        ("status", None),
        ("parents", "x"),
        ("parents", [1]),
        ("base", {}),
        ("base", {"title": "t", "status": "OPEN", "ball": 5, "summary": ""}),
        ("base", {"title": "t", "status": None, "ball": None, "summary": ""}),
        ("base", {"title": "t", "status": "OPEN", "ball": None, "extra": ""}),
        ("file_refs", "x"),
        ("pr_refs", [True]),
        ("pr_refs", ["1"]),
        ("commit_refs", [None]),
    ],
)
def test_a_known_key_of_another_shape_is_kept_as_it_is(key: str, value: Any) -> None:
    found = read_line("t", json_line(entry_id=entry_id(1), **{key: value}))
    assert isinstance(found, Entry)
    assert found.extra == {key: value}
    assert json.loads(to_line(found, 0))[key] == value


@relaxed
@given(
    st.dictionaries(st.sampled_from(sorted(KNOWN_KEYS)) | texts, json_values),
)
def test_whatever_another_tool_wrote_is_there_after_a_round(
    fields: dict[str, Any],
) -> None:
    fields |= {"entry_id": entry_id(1)}
    found = read_line("t", json_line(**fields))
    assert isinstance(found, Entry)
    again = json.loads(to_line(found, 0))
    for key in set(fields) - DERIVED_KEYS:
        assert again.get(key) or fields[key] in (again.get(key), "", None, [])
        assert not fields[key] or again[key] == fields[key]


def test_a_ball_at_nobody_is_free_however_it_is_written() -> None:
    for value in (None, ""):
        found = read_line("t", json_line(entry_id="x", ball=value))
        assert isinstance(found, Entry)
        assert found.ball == FREE


def nested(depth: int) -> bytes:
    return b'{"entry_id":"x","a":' + b"[" * depth + b"]" * depth + b"}"


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        (b"nonsense", "garbage"),
        (b'{"entry_id":"x"', "garbage"),
        (b'{"entry_id":"x"} {}', "garbage"),
        (b"\0" * 40, "garbage"),
        (b'{"entry_id":"x","title":"\0"}', "garbage"),
        (b'{"entry_id":"\xff"}', "garbage"),
        (b'{"entry_id":"x","title":"\xed\xa0\x80"}', "garbage"),
        ('{"entry_id":"x"}'.encode("utf-16"), "garbage"),
        (b'{"entry_id":"x","n":' + b"9" * 5000 + b"}", "garbage"),
        (nested(5000), "garbage"),
        (nested(150), "garbage"),
        (b'"text"', "shape"),
        (b"[]", "shape"),
        (b"null", "shape"),
        (b"{}", "shape"),
        (b'{"entry_id":""}', "shape"),
        (b'{"entry_id":5}', "shape"),
        (b'{"id":"entry:x"}', "shape"),
    ],
    ids=range(18),
)
def test_a_bad_line_is_named_and_hides_no_other(line: bytes, kind: str) -> None:
    log = read_log("t", GOOD + line + b"\n" + OTHER, "a.jsonl")
    assert log.entries == (entry(1), entry(2))
    (damage,) = log.damage
    assert damage[:3] == ("a.jsonl", 2, kind)
    assert damage.message
    assert damage.lost


def test_what_is_only_nested_or_large_is_read() -> None:
    assert isinstance(read_line("t", nested(99)), Entry)
    brackets = json_line(entry_id="x", body="[{" * 5000)
    assert isinstance(read_line("t", brackets), Entry)
    huge = read_line("t", json_line(entry_id="x", n=10**4000))
    assert isinstance(huge, Entry)
    assert huge.extra == {"n": 10**4000}


def test_a_line_longer_than_any_entry_is_not_even_parsed() -> None:
    line = b'{"entry_id":"x","body":"' + b"x" * longlines.MAX_LINE_BYTES + b'"}'
    found = read_line("t", line)
    assert isinstance(found, tuple)
    assert found[0] == "long"


def test_lone_surrogates_are_shown_as_question_marks() -> None:
    found = read_line("t", rb'{"entry_id":"x","title":"a\ud800b","\uDC00":["\udfff"]}')
    assert isinstance(found, Entry)
    assert found.title == "a?b"
    assert found.extra == {"?": ["?"]}
    pair = read_line("t", rb'{"entry_id":"x","title":"\ud83c\udfbe \\ud800"}')
    assert isinstance(pair, Entry)
    assert pair.title == r"🎾 \ud800"


def test_a_lone_surrogate_is_never_written() -> None:
    with pytest.raises(UnicodeEncodeError):
        to_line(entry(1, title="\ud800"), 0)


@pytest.mark.parametrize(
    ("tail", "complete_entry", "damage"),
    [
        (b"", False, []),
        (b"  \r", False, []),
        (OTHER[:-20], False, [("torn", True)]),
        (OTHER[:-1], True, [("torn", False)]),
        (b"\0\0\0", False, [("torn", True)]),
        (b"{}", False, [("torn", True)]),
    ],
)
def test_a_torn_tail_is_never_part_of_what_is_complete(
    tail: bytes, damage: list[tuple[str, bool]], *, complete_entry: bool
) -> None:
    log = read_log("t", GOOD + tail)
    assert log.entries == ((entry(1), entry(2)) if complete_entry else (entry(1),))
    assert [(one.kind, one.lost) for one in log.damage] == damage
    assert all(one.line == 2 for one in log.damage)
    assert (log.size, log.complete) == (len(GOOD + tail), len(GOOD))


def test_an_append_after_a_torn_line_leaves_garbage_and_both_entries() -> None:
    log = read_log("t", GOOD + OTHER[:30] + b"\n" + OTHER)
    assert log.entries == (entry(1), entry(2))
    assert log.damage == (Damage("entries.jsonl", 2, "garbage", "not JSON"),)


@relaxed
@given(
    linear_logs(),
    st.lists(
        st.binary(max_size=40)
        | st.sampled_from([GOOD[:50], b'{"entry_id":', b"\xff\xfe", b"[" * 200]),
        max_size=8,
    ),
    st.randoms(),
)
def test_arbitrary_bytes_between_good_lines_hide_none_of_them(
    good: list[Entry], bad: list[bytes], random: Any
) -> None:
    lines = [to_line(one, 0) for one in good] + [one + b"\n" for one in bad]
    random.shuffle(lines)
    data = b"".join(lines)
    log = read_log("t", data)
    found = {one.id: one for one in log.entries}
    assert all(found[one.id] == one for one in good)
    assert log.size == log.complete == len(data)
    assert sum(one.lost for one in log.damage) == sum(
        1
        for part in data.split(b"\n")
        if part.strip() and not isinstance(read_line("t", part), Entry)
    )


@relaxed
@given(st.binary(max_size=300))
def test_no_bytes_at_all_raise(data: bytes) -> None:
    log = read_log("t", data)
    assert log.size == len(data)
    assert log.complete <= log.size
    read_line("t", data)


def test_identical_copies_collapse_silently() -> None:
    log = read_log("t", GOOD + OTHER + GOOD + GOOD)
    assert log.entries == (entry(1), entry(2))
    assert log.damage == ()


VERSIONS = [
    entry(1, title="full", body="more", summary="most"),
    entry(1, title="", body=""),
    entry(1, title="a", body="same"),
    entry(1, title="b", body="same"),
    entry(1, title="a", body="same", extra={"status": ""}),
]


@relaxed
@given(st.permutations(VERSIONS))
def test_of_different_copies_the_fuller_counts_in_any_order(
    versions: list[Entry],
) -> None:
    data = b"".join(to_line(one, 0) for one in versions)
    log = read_log("t", data)
    assert log.entries == (VERSIONS[0],)
    poorer = [n for n, one in enumerate(versions, 1) if one != VERSIONS[0]]
    assert [one.line for one in log.damage] == poorer
    assert {(one.kind, one.lost) for one in log.damage} == {("differs", False)}
    assert entry_id(1) in log.damage[0].message
    equal = [one for one in versions if one.title in {"a", "b"} and not one.extra]
    log = read_log("t", b"".join(to_line(one, 0) for one in equal))
    assert log.entries == (VERSIONS[3],)


@relaxed
@given(linear_logs(recorded=False), st.randoms())
def test_entries_come_in_the_order_of_their_ids(log: list[Entry], random: Any) -> None:
    lines = [to_line(one, 0) for one in log]
    random.shuffle(lines)
    found = read_log("t", b"".join(lines))
    assert list(found.entries) == log
    assert found.last_id == (log[-1].id if log else "")


def test_ids_of_the_older_form_are_read_and_sorted_by_their_time() -> None:
    old = entry(2, id=f"{entry_id(2)}-claude-t")
    log = read_log("t", to_line(entry(3), 0) + to_line(old, 0) + GOOD)
    assert log.entries == (entry(1), old, entry(3))


def test_an_id_that_is_none_stays_behind_the_entry_it_was_found_after() -> None:
    odd = [entry(9, id=name) for name in ("zzz", "aaa")]
    first = entry(0, id="before all")
    data = [first, entry(1), odd[0], odd[1], entry(3), entry(2)]
    log = read_log("t", b"".join(to_line(one, 0) for one in data))
    assert log.entries == (first, entry(1), *odd, entry(2), entry(3))


def test_the_text_of_a_line_is_as_short_and_readable_as_it_can_be() -> None:
    full = entry(
        1, body="é\u2028", ball=FREE, status="OPEN", parents=(), base=Base("x"),
        extra={"annotation": 1},
    )  # fmt: skip
    assert to_line(full, 3).decode() == (
        '{"id":"entry:%s","type":"entry","entry_id":"%s","thread_topic":"t","index":3,'
        '"agent":"Codex (pat)","role":"","entry_type":"Note","title":"title 1",'
        '"timestamp":"2026-01-01T12:00:01Z","body":"é\\u2028","summary":"",'
        '"file_refs":[],"pr_refs":[],"commit_refs":[],"code_branch":"","status":"OPEN",'
        '"ball":null,"parents":[],"base":{"title":"x","status":"OPEN","ball":null,'
        '"summary":""},"annotation":1}\n'
    ).replace("%s", entry_id(1))


# --- damage, word for word ----------------------------------------------------


def test_the_deepest_line_that_is_read() -> None:
    assert isinstance(read_line("t", nested(100)), Entry)


def test_the_longest_line_that_is_read() -> None:
    line = GOOD[:-1].ljust(longlines.MAX_LINE_BYTES)
    assert read_line("t", line) == entry(1)
    size = longlines.MAX_LINE_BYTES + 1
    message = f"a line of {size} bytes is longer than any entry"
    assert read_line("t", line + b" ") == ("long", message)


def damage_of(*lines: bytes) -> tuple[Damage, ...]:
    return read_log("t", b"".join(lines), "a.jsonl").damage


def test_the_words_for_a_field_of_another_shape() -> None:
    odd = to_line(entry(1, extra={"status": 5, "title": [], "mine": 1}), 0)
    odd = odd.replace(b'"title":"title 1",', b"")
    message = f"status of entry {entry_id(1)} has an unknown shape"
    assert damage_of(odd) == (Damage("a.jsonl", 1, "field", message, lost=False),)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("links_added", ["x"]),
        ("links_added", [{"kind": "blocked-by"}]),
        ("links_added", [{"kind": "blocked-by", "topic": 5}]),
        ("links_added", [{"kind": "blocked-by", "topic": "a"}, 5]),
    ],
)
def test_a_field_of_another_shape_changes_nothing(name: str, value: Any) -> None:
    line = to_line(entry(1, extra={name: value}), 0)
    message = f"{name} of entry {entry_id(1)} has an unknown shape"
    assert damage_of(line) == (Damage("a.jsonl", 1, "field", message, lost=False),)
    (read,) = read_log("t", line).entries
    assert read.links_added == ()


def test_a_log_says_whether_its_lines_are_in_order() -> None:
    assert read_log("t", GOOD + OTHER).ordered is True
    assert read_log("t", OTHER + GOOD).ordered is False


def test_of_equal_versions_the_choice_does_not_depend_on_the_order_of_keys() -> None:
    lines = (
        b'{"entry_id":"x","b":2,"a":1}\n',
        b'{"entry_id":"x","a":2,"b":1}\n',
    )
    for data in (lines, lines[::-1]):
        (chosen,) = read_log("t", b"".join(data)).entries
        assert chosen.extra == {"a": 2, "b": 1}


# --- lines, sorted into good and bad ------------------------------------------

POOR = to_line(entry(1, title="", body=""), 0)


@pytest.mark.parametrize(
    ("lines", "good", "bad"),
    [
        ([GOOD, OTHER], [GOOD, OTHER], []),
        ([GOOD, b"garbage\n", OTHER], [GOOD, OTHER], [b"garbage\n"]),
        ([b"one\n", GOOD, b"two\n"], [GOOD], [b"one\n", b"two\n"]),
        ([POOR, GOOD], [GOOD], [POOR]),
        ([GOOD, b" \r\n", OTHER], [GOOD, b" \r\n", OTHER], []),
        ([GOOD, OTHER[:-1]], [GOOD, OTHER], []),
        ([GOOD, OTHER[:-9]], [GOOD], [OTHER[:-9] + b"\n"]),
        ([GOOD, b"\n"], [GOOD, b"\n"], []),
        ([], [], []),
    ],
)
def test_lines_are_sorted_into_good_and_bad(
    lines: list[bytes], good: list[bytes], bad: list[bytes]
) -> None:
    parted = codec.partition_lines("t", b"".join(lines))
    assert parted == (b"".join(good), b"".join(bad))
