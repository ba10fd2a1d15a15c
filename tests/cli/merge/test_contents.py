"""Merging bytes: the laws that unions of logs keep, and files by their names."""

from __future__ import annotations

import json
import tomllib
from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.strategies import entry, entry_id, json_line, relaxed
from wc_cli.ledger.merge.contents import Merged, merge_file
from wc_cli.ledger.merge.logs import merge_logs, split_torn, unite
from wc_core.base import ulid
from wc_core.ledger.summaries.kept import KeptSummary
from wc_core.ledger.threads import codec, folding
from wc_core.ledger.threads.model import Entry

# --- logs -----------------------------------------------------------------------

IDS = (
    *(entry_id(step) for step in range(5)),
    *(f"{entry_id(step)}-codex-t" for step in (1, 3)),
    *("note-b", "note-a", "7"),
)
GARBAGE = (b"no JSON", b"{}", b'["a list"]', b"\xff\xfe", b"\0\0", b'{"entry_id":""}')


def line(one: str, title: str = "", **fields: Any) -> bytes:
    written = entry(IDS.index(one), id=one, title=title, **fields)
    return codec.to_line(written, 0).removesuffix(b"\n")


good = st.builds(
    line,
    st.sampled_from(IDS),
    st.sampled_from(("", "other")),
    at=st.sampled_from(("2026-01-01T12:00:00Z", "2026-01-01T12:00:01Z")),
)
spaced = st.builds(lambda one, end: one + end, good, st.sampled_from((b"", b"", b"\r")))
lines = spaced | st.sampled_from((*GARBAGE, b"", b"  \t"))
logs = st.builds(
    lambda found, end: b"\n".join(found) + end,
    st.lists(lines, max_size=12),
    st.sampled_from((b"\n", b"")),
)


def merge(*data: bytes) -> bytes:
    return merge_logs("t", *data)


def is_canonical(log: bytes) -> bool:
    """Whether merging leaves a log as it is, which is not so after `git merge`."""
    return merge(log) == log


def filled(data: bytes) -> list[bytes]:
    return [one for one in data.split(b"\n") if one.strip()]


def bad(data: bytes) -> Counter[bytes]:
    found = filled(data)
    return Counter(one for one in found if not isinstance(read(one), Entry))


def read(one: bytes) -> Entry | tuple[str, str]:
    return codec.read_line("t", one)


@relaxed
@given(logs, logs, logs)
def test_merging_is_the_same_in_any_order(a: bytes, b: bytes, c: bytes) -> None:
    together = merge(a, b, c)
    assert merge(a, b) == merge(b, a)
    assert merge(merge(a, b), c) == merge(a, merge(b, c)) == together
    assert merge(c, merge(b, a)) == together


@relaxed
@given(logs, logs)
def test_merging_again_changes_nothing(a: bytes, b: bytes) -> None:
    both = merge(a, b)
    assert merge(both) == merge(both, both) == merge(both, a) == merge(b, both) == both
    assert is_canonical(both)


@relaxed
@given(logs, logs)
def test_no_line_is_lost_and_none_is_made(a: bytes, b: bytes) -> None:
    both = merge(a, b)
    found = set(filled(both))
    assert found <= {*filled(a), *filled(b)}
    kept = {one.strip() for one in found}
    assert kept >= {one.strip() for one in [*filled(a), *filled(b)]}
    assert bad(both) == bad(a) | bad(b)
    once = Counter(one.strip() for one in filled(both)) - Counter(bad(both).elements())
    assert set(once.values()) <= {1}
    assert both.endswith(b"\n") or not both


@relaxed
@given(logs, logs)
def test_reading_a_merged_log_gives_the_union_of_entries(a: bytes, b: bytes) -> None:
    found = codec.read_log("t", merge(a, b))
    joined = codec.read_log("t", a + b"\n" + b)
    assert {one.id: one for one in found.entries} == {
        one.id: one for one in joined.entries
    }
    named = [one for one in found.entries if ulid.prefix(one.id)]
    assert named == [one for one in joined.entries if ulid.prefix(one.id)]
    union = unite("t", a, b)
    assert (union.data, union.entries) == (merge(a, b), found.entries)
    assert union.lost == found.lost
    for ids, data in zip(union.ids, (a, b), strict=True):
        assert ids == {one.id for one in codec.read_log("t", data).entries}


@relaxed
@given(logs, logs)
def test_lines_stand_in_the_order_in_which_they_are_read(a: bytes, b: bytes) -> None:
    both = merge(a, b)
    written = [one for one in map(read, filled(both)) if isinstance(one, Entry)]
    once = list(dict.fromkeys(one.id for one in written))
    assert [one.id for one in codec.read_log("t", both).entries] == once
    assert [one.id for one in folding.in_order(codec.deduplicate(written)[0])] == once
    # What is no entry stands before all that is: the log ends with its last.
    kinds = [isinstance(read(one), Entry) for one in filled(both)]
    assert kinds == sorted(kinds)


@relaxed
@given(logs, logs)
def test_an_id_of_another_tool_stays_behind_what_it_was_found_after(
    a: bytes, b: bytes
) -> None:
    def floors(data: bytes) -> dict[str, str]:
        found: dict[str, str] = {}
        last = ""
        for one in map(read, filled(data)):
            if isinstance(one, Entry):
                last = max(last, ulid.prefix(one.id))
                found[one.id] = max(last, found.get(one.id, ""))
        return {one: at for one, at in found.items() if not ulid.prefix(one)}

    one, other = floors(a), floors(b)
    expected = {name: max(one.get(name, ""), other.get(name, "")) for name in one}
    assert floors(merge(a, b)) == other | expected


def test_both_ends_of_a_fork_stand_behind_what_they_share() -> None:
    shared = [line(IDS[0]), line(IDS[1])]
    ours, theirs = line(IDS[4]), line(IDS[3])
    one = b"\n".join([*shared, ours, b""])
    other = b"\n".join([*shared, theirs, b""])
    assert merge(one, other) == b"\n".join([*shared, theirs, ours, b""])


def test_ids_that_say_no_time_stand_by_their_timestamps() -> None:
    first = line(IDS[0])
    late, early = line("7", at="2026-01-02"), line("note-a", at="2026-01-01")
    data = merge(b"%b\n%b\n" % (first, late), b"%b\n%b\n" % (first, early))
    assert data.split(b"\n") == [first, early, late, b""]


def test_two_versions_of_an_entry_stand_side_by_side() -> None:
    poor, full, later = line(IDS[0]), line(IDS[0], "Title"), line(IDS[1])
    data = merge(b"%b\n%b\n" % (later, full), b"%b\n" % poor)
    assert data.split(b"\n") == [*sorted((poor, full)), later, b""]
    (first, _) = codec.read_log("t", data).entries
    assert first.title == "Title"


def test_what_a_plain_merge_leaves_is_recognised() -> None:
    first, ours, theirs = (line(one) + b"\n" for one in IDS[:3])
    assert is_canonical(first + ours + theirs)
    assert not is_canonical(first + theirs + ours)
    assert not is_canonical(first + ours + ours)
    assert not is_canonical(first + b"no JSON\n" + ours)
    assert not is_canonical(first + ours.removesuffix(b"\n"))


def test_a_line_end_of_another_system_is_no_other_version() -> None:
    one = line(IDS[0])
    assert merge(one + b"\r\n", one + b"\n") == one + b"\n"
    assert merge(one + b"\r\n") == one + b"\r\n"


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"", (b"", b"")),
        (b"torn", (b"", b"torn")),
        (b"a\nb\n", (b"a\nb\n", b"")),
        (b"a\ntorn", (b"a\n", b"torn")),
    ],
)
def test_a_torn_line_is_distinguished_from_complete_ones(
    data: bytes, expected: tuple[bytes, bytes]
) -> None:
    assert split_torn(data) == expected


# --- files ----------------------------------------------------------------------

LOSES_OURS = True


@pytest.mark.parametrize(
    ("base", "ours", "theirs", "expected"),
    [
        (b"1", b"1", b"2", b"2"),
        (b"1", b"2", b"1", b"2"),
        (b"1", b"2", b"2", b"2"),
        (b"1", b"1", None, None),
        (b"1", None, b"1", None),
        (b"1", None, None, None),
        (b"1", None, b"2", b"2"),
        (b"1", b"2", None, b"2"),
        (None, None, b"2", b"2"),
        (None, b"2", None, b"2"),
    ],
)
@pytest.mark.parametrize("path", ["a.json", "a.jsonl", "config.toml", "a", "x.png"])
def test_who_changed_a_file_counts(
    path: str,
    base: bytes | None,
    ours: bytes | None,
    theirs: bytes | None,
    expected: bytes | None,
) -> None:
    assert merge_file(path, base, ours, theirs) == Merged(expected)


@pytest.mark.parametrize(
    ("path", "base", "ours", "theirs", "expected", "outvoted"),
    [
        ("a.jsonl", b"1\n", b"1\n2\n", b"1\n3\n", b"1\n3\n2\n", False),
        ("a.jsonl", b"1\n", b"2\n", b"1\n3\n", b"1\n3\n2\n", False),
        ("a.jsonl", None, b"1\n1\n", b"1\n2", b"1\n2\n1\n", False),
        ("a.jsonl", None, b"1\n2", b"2", b"2\n1\n", False),
        (".gitignore", b"a\n", b"a\nb\n", b"c\na\n", b"c\na\nb\n", False),
        ("x/.gitattributes", None, b"a", b"b", b"b\na\n", False),
        ("a.png", b"1", b"\0ours", b"\0theirs", b"\0theirs", True),
        ("a.png", b"1", b"\0ours", b"theirs", b"theirs", True),
        ("a.txt", b"1\n2\n3\n", b"0\n1\n2\n3\n", b"1\n2\n4\n", b"0\n1\n2\n4\n", False),
        ("a.txt", b"1\n", b"1\nours\n", b"1\ntheirs\n", b"1\nours\ntheirs\n", False),
        ("a.txt", b"1\n2\n", b"ours\n2\n", b"theirs\n2\n", b"ours\ntheirs\n2\n", False),
        ("a.txt", None, b"ours", b"theirs", b"ours\ntheirs", False),
        ("a.txt", None, b"1\n", b"1\n2\n", b"1\n2\n", False),
        ("a.txt", b"1\n2\n3\n", b"1\n3\n", b"1\n2!\n3\n", b"1\n2!\n3\n", False),
        ("a.txt", b"1\n2\n3\n4\n", b"1\n3\n4\n", b"1\n2\n3\n", b"1\n3\n", False),
        ("a.txt", b"\xff\n", b"\xff\n1\n", b"0\n\xff\n", b"0\n\xff\n1\n", False),
    ],
)
def test_what_both_changed_is_merged_by_its_name(
    path: str,
    base: bytes | None,
    ours: bytes,
    theirs: bytes,
    expected: bytes,
    outvoted: bool,  # noqa: FBT001
) -> None:
    assert merge_file(path, base, ours, theirs) == Merged(expected, outvoted)


@pytest.mark.parametrize(
    ("base", "ours", "theirs", "expected", "outvoted"),
    [
        ({"a": 1}, {"a": 1, "b": 2}, {"a": 1, "c": 3}, {"a": 1, "c": 3, "b": 2}, False),
        ({"a": 1}, {"a": 2}, {"a": 3}, {"a": 3}, True),
        ({"a": 1, "b": 1}, {"b": 2}, {"a": 1, "b": 1, "c": 1}, {"b": 2, "c": 1}, False),
        ({"a": 1}, {"b": 1}, {"a": 2}, {"a": 2, "b": 1}, False),
        ({"a": 1}, {"a": 2}, {"b": 1}, {"b": 1, "a": 2}, False),
        ({"a": 1}, {"a": 1, "b": 1}, {}, {"b": 1}, False),
        ({"a": {"x": 1}}, {"a": {"x": 2}}, {"a": {"x": 1, "y": 3}},
         {"a": {"x": 2, "y": 3}}, False),
        ({}, {"a": {"x": 1}}, {"a": {"y": 2}}, {"a": {"y": 2, "x": 1}}, False),
        ({}, {"a": {"x": 1}}, {"a": [1]}, {"a": [1]}, True),
        ({"a": 1}, {"a": True}, {"a": 1, "b": 1}, {"a": True, "b": 1}, False),
        ({"a": 1}, {"a": 1.0}, {"a": True}, {"a": True}, True),
        ({"a": [1]}, {"a": [1, 2]}, {"a": [1, 3]}, {"a": [1, 3]}, True),
        ({}, {"é": None}, {"b": "ü"}, {"b": "ü", "é": None}, False),
    ],
)  # fmt: skip
@pytest.mark.parametrize("how", [{}, {"indent": 2}, {"indent": "\t"}])
def test_objects_are_merged_by_their_keys(
    base: dict[str, Any],
    ours: dict[str, Any],
    theirs: dict[str, Any],
    expected: dict[str, Any],
    outvoted: bool,  # noqa: FBT001
    how: dict[str, Any],
) -> None:
    def written(value: dict[str, Any]) -> bytes:
        return json.dumps(value, ensure_ascii=False, **how).encode() + b"\n"

    three = (written(one) for one in (base, ours, theirs))
    merged = merge_file("meta.json", *three)
    assert merged.data is not None
    assert json.dumps(json.loads(merged.data)) == json.dumps(expected)
    assert merged.outvoted == outvoted
    if theirs.keys() and not any(isinstance(one, float) for one in theirs.values()):
        indented = b"\n" in merged.data.strip()
        assert indented == bool(how)


def test_an_object_that_says_all_keeps_its_bytes() -> None:
    base, ours, theirs = b'{"a":1}', b'{ "a":2 }', b'{"a" : 2,  "b":1}'
    assert merge_file("x.json", base, ours, theirs) == Merged(theirs)
    assert merge_file("x.json", base, theirs, ours) == Merged(theirs)


@pytest.mark.parametrize(
    "broken", [b"no JSON", b"[1]", b'{"a":1,"a":2}', b"\xff", b"[" * 100_000]
)
def test_of_two_files_the_one_that_is_an_object_counts(broken: bytes) -> None:
    good = b'{"a":1}'
    assert merge_file("x.json", b"{}", broken, good) == Merged(good, outvoted=True)
    assert merge_file("x.json", b"{}", good, broken) == Merged(good)
    assert merge_file("x.json", b"{}", broken, b"?") == Merged(b"?", outvoted=True)


BASE = """# Ours, all of us.
[ball]
enforce = "warn"  # for now

[aliases]
cc = "Claude Code"
"""


@pytest.mark.parametrize(
    ("ours", "theirs", "expected", "outvoted"),
    [
        # Each in a place of its own.
        (BASE.replace("warn", "off"), BASE + 'cx = "Codex"\n',
         BASE.replace("warn", "off") + 'cx = "Codex"\n', False),
        # Both at the end: in a table of both, in tables of their own.
        (BASE + 'cu = "Cursor"\n', BASE + 'cx = "Codex"\n',
         BASE + 'cu = "Cursor"\ncx = "Codex"\n', False),
        (BASE + '[identity]\nseats = "off"\n', BASE + "[sync]\nfetch = 1\n",
         BASE + '[identity]\nseats = "off"\n[sync]\nfetch = 1\n', False),
        (BASE + '[counterparts]\nA = "x"\n', BASE + '[counterparts]\nB = "y"\n',
         BASE + '[counterparts]\nA = "x"\nB = "y"\n', False),
        # The same key.
        (BASE.replace("warn", "off"), BASE.replace("warn", "refuse"),
         BASE.replace("warn", "refuse"), True),
        (BASE.replace("warn", "off") + 'cx = "Codex"\n', BASE.replace("warn", "refuse"),
         BASE.replace("warn", "refuse") + 'cx = "Codex"\n', True),
        # Apart in the file, and still one key.
        (BASE + "[sync]\na = 1\n", "[sync]\na = 2\n" + BASE,
         "[sync]\na = 2\n" + BASE, True),
        # One that cannot be read does not count.
        (BASE + "[", BASE + "a = 1\n", BASE + "a = 1\n", True),
        (BASE + "a = 1\n", BASE + "[", BASE + "a = 1\n", False),
    ],
)  # fmt: skip
def test_settings_that_can_be_read_come_of_settings_that_can_be_read(
    ours: str,
    theirs: str,
    expected: str,
    outvoted: bool,  # noqa: FBT001
) -> None:
    three = (one.encode() for one in (BASE, ours, theirs))
    assert merge_file("config.toml", *three) == Merged(expected.encode(), outvoted)
    tomllib.loads(expected)


settings = st.lists(
    st.tuples(
        st.sampled_from(("[a]", "[b]", "# note", "")),
        st.dictionaries(st.sampled_from("xyz"), st.integers(0, 2), max_size=2),
    ),
    max_size=4,
).map(
    lambda parts: "".join(
        f"{head}\n" + "".join(f"{key} = {value}\n" for key, value in keys.items())
        for head, keys in parts
    )
)


def tables(data: bytes | str) -> dict[str, Any] | None:
    try:
        return tomllib.loads(data if isinstance(data, str) else data.decode())
    except tomllib.TOMLDecodeError:
        return None


@relaxed
@given(settings, settings, settings)
def test_no_two_good_settings_make_bad_ones(base: str, ours: str, theirs: str) -> None:
    merged = merge_file("config.toml", *(x.encode() for x in (base, ours, theirs)))
    assert merged.data is not None
    if tables(ours) is not None and tables(theirs) is not None:
        assert tables(merged.data) is not None
        if not merged.outvoted:
            # What we changed and they did not is there.
            for line in set(ours.splitlines()) - set(base.splitlines()):
                assert line in merged.data.decode().splitlines()


texts = st.lists(st.sampled_from((b"a\n", b"b\n", b"c\n", b"\n")), max_size=8).map(
    b"".join
)


@relaxed
@given(texts, texts, texts)
def test_no_line_that_a_side_added_is_lost(
    base: bytes, ours: bytes, theirs: bytes
) -> None:
    merged = merge_file("notes.txt", base, ours, theirs)
    assert merged.data is not None
    assert not merged.outvoted
    had, has = Counter(base.splitlines()), Counter(merged.data.splitlines())
    for side in (ours, theirs):
        added = set(Counter(side.splitlines()) - had)
        assert added <= set(has)


def test_entries_of_two_old_pages_stay_whole() -> None:
    page = b"# t\n\n---\nEntry: A 1\nType: Note\n\nOne.\n"
    ours = page + b"\n---\nEntry: B 2\nType: Note\n\nTwo.\n"
    theirs = page + b"\n---\nEntry: C 3\nType: Note\n\nThree.\n"
    merged = merge_file("threads/t.md", page, ours, theirs)
    assert merged.data == ours + theirs.removeprefix(page)


def test_a_text_of_very_many_lines_is_not_compared() -> None:
    ours, theirs = (
        b"".join(b"%d %d\n" % (n, m) for n in range(20_001)) for m in (1, 2)
    )
    merged = merge_file("big.txt", b"", ours, theirs)
    assert merged == Merged(theirs, outvoted=True)


def test_a_log_of_another_tool_is_merged_like_ours() -> None:
    one = json_line(entry_id=IDS[1], agent="A", timestamp="1", new=[1, {"a": None}])
    other = json_line(entry_id=IDS[0], agent="B", timestamp="0")
    assert merge(one, other) == other + one


def test_summaries_of_models_are_merged_by_entry_and_text() -> None:
    def line(one: str, summary: str, at: str) -> bytes:
        record = KeptSummary(one, "h", summary, "m", f"2026-01-0{at}T12:00:00Z")
        return record.to_line()

    base = line("A", "first", "1")
    ours = base + line("B", "ours", "3") + b'{"of": "a newer wc"}\n'
    theirs = base + line("B", "theirs", "2") + line("C", "new", "2")
    path = "graph/baseline/threads/t/summaries.jsonl"
    merged = merge_file(path, base, ours, theirs)
    assert merged == merge_file(path, base, theirs, ours)
    assert merged.data == (
        b'{"of": "a newer wc"}\n'
        + base
        + line("B", "ours", "3")
        + line("C", "new", "2")
    )
    assert not merged.outvoted
