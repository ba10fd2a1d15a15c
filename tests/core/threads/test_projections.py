"""``meta.json`` and ``edges.jsonl``: rendered, read back, or named as damage."""

from __future__ import annotations

import json
import zlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.strategies import (
    chain,
    entry,
    entry_id,
    json_values,
    linear_logs,
    relaxed,
    states,
    texts,
)
from wc_core.base.errors import Damage
from wc_core.ledger.threads import folding
from wc_core.ledger.threads.model import Base, Entry, State
from wc_core.ledger.threads.projections import (
    VERSION,
    Meta,
    read_meta,
    render_edges,
    render_meta,
)

OWN_KEYS = {"id", "type", "topic", "title", "status", "ball", "summary", "wc"} | {
    "last_updated",
    "entry_count",
}
unknown_keys = st.dictionaries(
    texts.filter(lambda key: key not in OWN_KEYS), json_values, max_size=4
)
later_keys = st.fixed_dictionaries(
    {}, optional={"wc": st.fixed_dictionaries({"later": json_values})}
)


@relaxed
@given(states, st.integers(0, 1 << 40), unknown_keys, later_keys)
def test_meta_gives_back_the_state_and_keys_of_other_tools_and_versions(
    state: State, size: int, unknown: dict[str, Any], later: dict[str, Any]
) -> None:
    unknown |= later
    data = render_meta(state, size, unknown)
    # No log has the summary: it is kept like a key of another tool.
    unknown = ({"summary": state.summary} if state.summary else {}) | unknown
    meta = read_meta("t", data)
    assert isinstance(meta, Meta)
    assert meta.state == state
    assert meta.log_size == size
    assert meta.unknown == unknown
    assert list(meta.unknown) == list(unknown)
    assert (meta.version, meta.newer) == (VERSION, False)
    assert meta.base is not None
    assert meta.base[:2] == (state.title, state.status)
    assert meta.base.summary == state.summary
    assert render_meta(state, size, meta.unknown) == data


@relaxed
@given(linear_logs())
def test_meta_gives_back_the_fold_of_a_log(log: list[Entry]) -> None:
    state = folding.fold("t", log)
    meta = read_meta("t", render_meta(state, 5, {}))
    assert isinstance(meta, Meta)
    assert meta.state == state


def test_meta_shows_people_first_what_they_look_for() -> None:
    state = folding.fold("t", chain(entry(1, code_branch="fix", status="IN_REVIEW")))
    text = render_meta(state, 9, {"annotation": {"a": 1}}).decode()
    head, _, check = text.partition(',"check":')
    assert check == f"{zlib.crc32(head.encode())}}}\n}}\n"
    assert head == (
        '{\n  "id": "thread:t",\n  "type": "thread",\n  "topic": "t",\n'
        '  "title": "title 1",\n  "status": "IN_REVIEW",\n  "ball": "anyone",\n'
        '  "last_updated": "2026-01-01T12:00:01Z",\n  "summary": "",\n'
        '  "entry_count": 1,\n  "annotation": {\n    "a": 1\n  },\n'
        '  "wc": {"version":1,"log_size":9,"last_id":"%s","status":"IN_REVIEW",'
        '"ball":null,"since":"",'
        '"created_at":"2026-01-01T12:00:01Z","updated_by":"Codex (pat)",'
        '"branch":"fix","heads":["%s"],"participants":[["Codex (pat)",0]],'
        '"passes":[],"asker":"Codex (pat)","bounces":0,"first_id":"%s",'
        '"first_by":"Codex (pat)","boxes":true'
    ).replace("%s", entry_id(1))


@pytest.mark.parametrize(
    ("fields", "base"),
    [
        ({}, Base()),
        (
            {"title": "T", "status": "in review", "ball": "Codex", "summary": "s"},
            Base("T", "IN_REVIEW", "Codex", "s"),
        ),
        ({"title": 5, "status": None, "ball": "", "summary": []}, Base()),
        ({"status": "open", "ball": {"at": "Codex"}}, Base()),
        ({"wc": "another tool's", "ball": None}, Base()),
    ],
)
def test_a_foreign_meta_says_where_the_thread_starts(
    fields: dict[str, Any], base: Base
) -> None:
    data = json.dumps(fields | {"last_updated": "then", "entry_count": 3, "x": 1})
    meta = read_meta("t", data.encode())
    kept: dict[str, Any] = {"summary": base.summary} if base.summary else {}
    kept["x"] = 1
    assert meta == Meta(base=base, updated_at="then", entry_count=3, unknown=kept)


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b"", "garbage"),
        (b"{", "garbage"),
        (b"\xff\xfe", "garbage"),
        (b'{"title":"\xed\xa0\x80"}', "garbage"),
        (b"[" * 100_000, "garbage"),
        (b'{"a":' + b"[" * 150 + b"]" * 150 + b"}", "garbage"),
        (b"[]", "shape"),
        (b"null", "shape"),
        (b'"wc"', "shape"),
    ],
    ids=range(9),
)
def test_garbage_is_damage(data: bytes, kind: str) -> None:
    found = read_meta("t", data)
    assert isinstance(found, Damage)
    assert found[:3] == ("meta.json", 0, kind)
    assert not found.lost  # the log is what counts


WHOLE = json.loads(render_meta(folding.fold("t", chain(entry(1))), 9, {}))


@pytest.mark.parametrize(
    "change",
    [
        *({key: ...} for key in WHOLE["wc"] if key != "version"),
        {"log_size": "x"},
        {"log_size": None},
        {"heads": None},
        {"heads": 5},
        {"participants": [["a"]]},
        {"participants": [["a", "b"]]},
        {"participants": [["a", float("inf")]]},
        {"participants": {"a": 1}},
        {"passes": [5]},
        {"passes": "x"},
    ],
    ids=str,
)
def test_our_own_part_is_whole_or_not_believed_never_half_a_state(
    change: dict[str, Any],
) -> None:
    ours = {k: v for k, v in (WHOLE["wc"] | change).items() if v is not ...}
    found = read_meta("t", json.dumps(WHOLE | {"wc": ours, "tags": [1]}).encode())
    assert isinstance(found, Meta)
    assert found.state is None
    assert found.unknown == {"tags": [1]}


@pytest.mark.parametrize("key", ["title", "status", "ball", "summary", "last_updated"])
def test_a_meta_of_which_someone_changed_a_word_is_not_believed(key: str) -> None:
    found = read_meta("t", json.dumps(WHOLE | {key: "Evil (pat)"}).encode())
    assert isinstance(found, Meta)
    assert found.state is None


def test_a_newer_meta_is_read_as_far_as_it_makes_sense() -> None:
    newer = {**WHOLE["wc"], "version": VERSION + 1, "more": [1]}
    meta = read_meta("t", json.dumps(WHOLE | {"wc": newer}).encode())
    assert isinstance(meta, Meta)
    assert meta.newer
    assert meta.state == folding.fold("t", chain(entry(1)))
    del newer["heads"]
    meta = read_meta("t", json.dumps(WHOLE | {"wc": newer}).encode())
    assert isinstance(meta, Meta)
    assert meta.newer
    assert meta.state is None


@relaxed
@given(
    st.binary(max_size=60)
    | st.dictionaries(
        st.sampled_from(sorted(OWN_KEYS)),
        json_values
        | st.dictionaries(st.sampled_from(sorted(WHOLE["wc"])), json_values),
    ).map(lambda fields: json.dumps(fields).encode())
)
def test_no_bytes_at_all_raise(data: bytes) -> None:
    assert isinstance(read_meta("t", data), Meta | Damage)


def test_a_lone_surrogate_never_gets_out_of_a_meta() -> None:
    meta = read_meta("t", rb'{"title":"\ud800"}')
    assert isinstance(meta, Meta)
    assert meta.base is not None
    assert meta.base.title == "?"
    assert b"?" in render_meta(State("t", title="\ud800"), 0, {})


def test_edges_have_the_form_older_tools_give_them() -> None:
    assert render_edges("t", []) == b""
    a, b = entry(1, id="a"), entry(2, id="b\u2028")
    assert render_edges("t", [a, b]).decode() == (
        '{"source":"thread:t","target":"entry:a","type":"contains"}\n'
        '{"source":"thread:t","target":"entry:b\\u2028","type":"contains"}\n'
        '{"source":"entry:a","target":"entry:b\\u2028","type":"followed_by"}\n'
    )
