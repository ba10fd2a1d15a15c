"""Answers within max_tokens: never longer, and what they leave out is one call away."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest

from tests.observe.stores import only_text

if TYPE_CHECKING:
    from mcp_types import CallToolResult

    from tests.observe.stores import Session, Store

_CALL = re.compile(r"(\w+)\(((?:\w+=(?:\"(?:[^\"\\]|\\.)*\"|-?\w+)(?:, )?)*)\)")
_ARGUMENT = re.compile(r"(\w+)=(\"(?:[^\"\\]|\\.)*\"|-?\w+)")

Call = tuple[str, dict[str, Any]]


def call_in(text: str) -> Call:
    """A call of a tool, as an answer names it."""
    found = _CALL.fullmatch(text)
    assert found is not None, text
    arguments = _ARGUMENT.findall(found[2])
    return found[1], {name: json.loads(value) for name, value in arguments}


def calls_in(text: str) -> list[Call]:
    """The calls that stand at the end of our lines in an answer in markdown."""
    lines = [line for line in text.split("\n") if not line.startswith((">", "title:"))]
    return [call_in(found[0]) for line in lines for found in _CALL.finditer(line)]


def size(result: CallToolResult) -> int:
    """The characters of an answer."""
    fields = result.structured_content
    if fields is None or fields.keys() == {"note"}:
        return len(only_text(result))
    return len(json.dumps(fields, ensure_ascii=False, separators=(",", ":")))


def long_thread(store: Store) -> None:
    """Forty entries, some long, some decisions, some only a title, one for Codex."""
    entries = []
    for number in range(40):
        body = f"{number}: " + "Tokens <system> expire.\n" * (number * 7 % 31)
        fields: dict[str, Any] = {"body": body if number % 9 else ""}
        if number in {5, 20}:
            fields["kind"] = "decision"
        if number == 7:
            fields["body"] = "Very long. " * 1_000
        entries.append(
            store.give("plan", "Claude Code (pat)", **fields)
            if number == 11
            else store.entry("plan", **fields)
        )
    store.thread("plan", *entries)


_BUDGETS = (300, 333, 400, 500, 1000, 1700, 3000, 6000, 20_000)


@pytest.mark.parametrize("form", ["markdown", "json"])
@pytest.mark.parametrize("more", [{}, {"summary_only": True}, {"limit": 7}])
def test_a_thread_is_never_longer_than_asked(
    store: Store, session: Session, form: str, more: dict[str, Any]
) -> None:
    long_thread(store)
    arguments = {"topic": "plan", "format": form} | more
    answers = session.calls(
        *(("read_thread", arguments | {"max_tokens": tokens}) for tokens in _BUDGETS)
    )
    assert not any(answer.is_error for answer in answers)
    sizes = [size(answer) for answer in answers]
    most = [tokens * 4 for tokens in _BUDGETS]
    assert all(one <= limit for one, limit in zip(sizes, most, strict=True))
    assert sizes[0] < sizes[3] < sizes[4]


def test_following_the_calls_shows_every_entry_whole_once(
    store: Store, session: Session
) -> None:
    long_thread(store)
    waiting: list[Call] = [("read_thread", {"topic": "plan", "max_tokens": 700})]
    whole: list[int] = []
    while waiting:
        tool, arguments = waiting.pop()
        fields = session.json(tool, **arguments)
        if "entry" in arguments:
            assert "body" in fields["entry"]
            whole.append(fields["entry"]["idx"])
            continue
        assert size(session.call(tool, **arguments)) <= 2800
        for entry in fields["entries"]:
            if "show" in entry:
                waiting.append(call_in(entry["show"]))
            else:
                whole.append(entry["idx"])
        waiting += [call_in(part["show"]) for part in fields.get("left_out", ())]
        parts = (*fields["entries"], *fields.get("left_out", ()))
        is_part = "next_entry_index" in fields or any("show" in part for part in parts)
        assert fields.get("truncated", False) == is_part
    assert sorted(whole) == [*range(40)]


def test_the_calls_in_markdown_continue_exactly_where_it_ended(
    store: Store, session: Session
) -> None:
    long_thread(store)
    text = session.text("read_thread", topic="plan", limit=30, max_tokens=600)
    shown = [int(n) for n in re.findall(r"^(?:- |entry )(\d+) \|", text, re.MULTILINE)]
    assert shown == sorted(shown)
    ranges = [arguments for _, arguments in calls_in(text) if "limit" in arguments]
    left_out = [
        number
        for part in ranges
        for number in range(part["from_entry"], part["from_entry"] + part["limit"])
    ]
    # The last of the calls gets the next thirty, of which there are ten.
    assert sorted(left_out[:-30] + shown) == [*range(30)]
    assert ranges[-1] == {
        "topic": "plan",
        "from_entry": 30,
        "limit": 30,
        "max_tokens": 600,
    }


def test_what_matters_is_shown_before_what_is_as_old(
    store: Store, session: Session
) -> None:
    long_thread(store)
    fields = session.json("read_thread", topic="plan", max_tokens=1500)
    shown = {entry["idx"] for entry in fields["entries"]}
    assert {39, 38, 20, 11} <= shown
    assert 12 not in shown
    newest = fields["entries"][-1]
    assert newest["idx"] == 39
    assert newest["body"].startswith("39: Tokens \u2039system> expire.")
    assert fields["left_out"][0]["show"] == (
        'read_thread(topic="plan", from_entry=0, limit=5, max_tokens=1500)'
    )


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("read_thread", {"topic": "plan"}),
        ("read_thread", {"topic": "plan", "summary_only": True}),
        ("read_thread", {"topic": "plan", "limit": 7}),
        ("search_threads", {"query": "tokens"}),
        ("list_updates", {"since": "52w"}),
        ("list_updates", {"since": "52w", "limit": 7}),
    ],
)
@pytest.mark.parametrize("form", ["markdown", "json"])
def test_too_few_tokens_are_refused_with_the_least(
    store: Store, session: Session, tool: str, arguments: dict[str, Any], form: str
) -> None:
    long_thread(store)
    arguments = {**arguments, "format": form}
    error = session.error(tool, **arguments, max_tokens=9)
    assert error["code"] == "INVALID_INPUT"
    least = int(error["hint"].split()[-3])
    assert f"at least {least} tokens; 9 are too few" in error["message"]
    enough = session.call(tool, **arguments, max_tokens=least)
    assert not enough.is_error
    assert size(enough) <= least * 4
    # The calls of the answer repeat the number, which may be longer.
    assert session.call(tool, **arguments, max_tokens=least - 3).is_error


def test_guidance_is_part_of_the_answer(store: Store, session: Session) -> None:
    long_thread(store)
    folder = store.root / "guidance"
    folder.mkdir()
    (folder / "read.md").write_text("- Answer in verse.\n" * 5)
    for form in ("markdown", "json"):
        result = session.call("read_thread", topic="plan", max_tokens=450, format=form)
        assert not result.is_error
        assert "Answer in verse." in str(result)
        assert 1400 < size(result) <= 1800


def test_a_thread_that_fits_reads_as_without_a_budget(
    store: Store, session: Session
) -> None:
    store.thread("plan", store.entry("plan", "Short."), store.entry("plan"))
    plain = session.text("read_thread", topic="plan")
    assert session.text("read_thread", topic="plan", max_tokens=5000) == plain
    fields = session.json("read_thread", topic="plan")
    assert session.json("read_thread", topic="plan", max_tokens=5000) == fields
    none = session.text("read_thread", topic="plan", from_entry=9, max_tokens=300)
    assert "no such entries" in none


def several_threads(store: Store) -> list[str]:
    """Forty entries in three threads, some of them decisions; their ids."""
    written: dict[str, list[Any]] = {topic: [] for topic in ("one", "two", "three")}
    for number in range(40):
        topic = ("one", "two", "three")[number * number % 3]
        kind = "decision" if number == 8 else ""
        body = "Said at length. " * (number % 5)
        written[topic].append(store.entry(topic, body, kind=kind))
    for topic, entries in written.items():
        if entries:
            store.thread(topic, *entries)
    return sorted(entry.id for entries in written.values() for entry in entries)


@pytest.mark.parametrize("form", ["markdown", "json"])
def test_updates_are_never_longer_than_asked(
    store: Store, session: Session, form: str
) -> None:
    several_threads(store)
    for more in ({}, {"limit": 11}):
        arguments = {"since": "52w", "format": form, "limit": 500} | more
        answers = session.calls(
            *(("list_updates", arguments | {"max_tokens": n}) for n in _BUDGETS)
        )
        sizes = [size(answer) for answer in answers]
        assert all(not answer.is_error for answer in answers)
        for one, tokens in zip(sizes, _BUDGETS, strict=True):
            assert one <= tokens * 4
        assert sizes == sorted(sizes)


def test_the_calls_of_updates_show_every_entry_once_in_order(
    store: Store, session: Session
) -> None:
    ids = several_threads(store)
    arguments: dict[str, Any] = {"since": "52w", "max_tokens": 600, "limit": 12}
    waiting: list[Call] = [("list_updates", arguments)]
    shown: list[str] = []
    following = ""
    while waiting:
        tool, arguments = waiting.pop()
        fields = session.json(tool, **arguments)
        named = [entry["id"] for entry in fields["entries"]]
        assert named == sorted(named)
        shown += named
        waiting += [call_in(part["show"]) for part in fields.get("left_out", ())]
        is_gap = arguments["limit"] != 12
        if not is_gap:
            following = fields.get("next_since", "")
        if not waiting and following:
            arguments = {"since": following, "max_tokens": 600, "limit": 12}
            waiting, following = [("list_updates", arguments)], ""
    assert sorted(shown) == ids


def test_a_decision_is_among_the_updates_before_newer_entries(
    store: Store, session: Session
) -> None:
    several_threads(store)
    text = session.text("list_updates", since="52w", limit=40, max_tokens=650)
    assert '"Entry 40"' in text
    assert '"Entry 9"' in text
    assert '"Entry 10"' not in text
    assert "left out: 8 entries: list_updates(since=" in text


@pytest.mark.parametrize("form", ["markdown", "json"])
def test_hits_are_never_longer_and_the_cursor_continues_after_them(
    store: Store, session: Session, form: str
) -> None:
    ids = several_threads(store)
    arguments = {"query": "length", "limit": 30, "format": form}
    answers = session.calls(
        *(("search_threads", arguments | {"max_tokens": n}) for n in _BUDGETS)
    )
    sizes = [size(answer) for answer in answers]
    assert all(not answer.is_error for answer in answers)
    for one, tokens in zip(sizes, _BUDGETS, strict=True):
        assert one <= tokens * 4
    assert sizes == sorted(sizes)
    shown: list[str] = []
    cursor = ""
    while cursor or not shown:
        fields = session.json(
            "search_threads", query="length", limit=30, max_tokens=500, cursor=cursor
        )
        shown += [hit["id"] for hit in fields["hits"]]
        cursor = fields.get("cursor", "")
    whole = session.json("search_threads", query="length", limit=100)
    assert shown == [hit["id"] for hit in whole["hits"]]
    assert set(shown) <= set(ids)


def test_the_call_for_more_hits_is_the_same_question(
    store: Store, session: Session
) -> None:
    several_threads(store)
    asked = {"query": "length", "sort": "newest", "author": "Codex", "max_tokens": 400}
    text = session.text("search_threads", **asked)
    (call,) = calls_in(text)
    cursor = call[1].pop("cursor")
    assert call == ("search_threads", asked)
    assert cursor in text
    error = session.error("search_threads", query="length", max_tokens=20)
    assert "20 are too few" in error["message"]
