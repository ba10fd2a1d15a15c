"""What was a tool of its own: the older name and the new form answer the same."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from fastmcp import Client

from tests.observe.stores import NOW_MS, Session, Store, only_text, structured
from wc_core.base.toolnames import OLDER_TOOLS, PREFIX, TOOLS
from wc_observe.callers.calls import ServerContext
from wc_observe.mcp.server import build_server

if TYPE_CHECKING:
    from mcp_types import CallToolResult

Call = tuple[str, dict[str, Any]]

SAME: list[tuple[Call, Call]] = [
    (
        ("get_entry", {"topic": "plan", "index": 1}),
        ("read_thread", {"topic": "plan", "entry": "#1"}),
    ),
    (
        ("get_entry", {"topic": "plan", "index": -1, "offset": 2}),
        ("read_thread", {"topic": "plan", "entry": "-1", "offset": 2}),
    ),
    (
        ("get_entry", {"topic": "plan", "entry_id": "0", "history": True}),
        ("read_thread", {"topic": "plan", "entry": 0, "history": True}),
    ),
    (
        ("get_ball_history", {"topic": "plan"}),
        ("get_stats", {"topic": "plan"}),
    ),
    (("list_ready", {}), ("list_threads", {"ready": True})),
    (
        ("list_ready", {"mine": True, "limit": 1}),
        ("list_threads", {"ready": True, "ball": "me", "limit": 1}),
    ),
    (
        ("explain_readiness", {"topic": "plan"}),
        ("read_thread", {"topic": "plan", "why_not_ready": True}),
    ),
    (("list_claims", {}), ("list_edits", {})),
    (
        ("list_activity", {"path": "a.py", "whose": "mine"}),
        ("list_edits", {"show": "activity", "path": "a.py", "whose": "mine"}),
    ),
    (("get_conflicts", {}), ("list_edits", {"show": "conflicts"})),
    (("get_loop_status", {}), ("list_worktrees", {"show": "loops"})),
    (("get_team_status", {}), ("list_worktrees", {"show": "team"})),
]


@pytest.fixture
def guided(store: Store) -> Store:
    """A store with threads, that asks something on the occasions of these calls."""
    entries = [store.give("plan", None), *(store.entry("plan", "Text.") for _ in "12")]
    store.thread("plan", *entries)
    store.thread("mine", store.give("mine", "Claude Code"))
    folder = Path(store.layout.guidance_folder)
    folder.mkdir()
    for occasion in (
        *("read", "stats", "list", "ready", "why", "claims", "activity"),
        *("conflicts", "worktrees"),
    ):
        (folder / f"{occasion}.md").write_text(f"Asked on {occasion}.\n")
    return store


def parts(result: CallToolResult) -> tuple[bool, str, Any]:
    return bool(result.is_error), only_text(result), result.structured_content


@pytest.mark.parametrize("form", ["markdown", "json"])
def test_both_answer_the_same(guided: Store, env: dict[str, str], form: str) -> None:
    session = Session(guided.root.parent, env)
    wanted = [(name, words | {"format": form}) for both in SAME for name, words in both]
    results = [parts(result) for result in session.calls(*wanted)]
    for (old, new), before, now in zip(SAME, results[::2], results[1::2], strict=True):
        assert before == now, (old, new)
        assert not now[0], now
        assert "Asked on " in str(now), now
    assert {old for (old, _), _ in SAME} == {*OLDER_TOOLS} - {"list_vocabulary"}


def test_the_vocabulary_is_part_of_health(session: Session) -> None:
    words = session.call("list_vocabulary")
    health = session.call("health", vocabulary=True)
    assert structured(health)["vocabulary"] == structured(words)
    assert only_text(words) in only_text(health)
    assert "vocabulary" not in session.fields("health")


@pytest.mark.usefixtures("guided")
def test_an_entry_by_its_older_name_is_named_once(session: Session) -> None:
    for arguments in ({}, {"index": 0, "entry_id": "x"}):
        told = session.error("get_entry", topic="plan", **arguments)
        assert "not both" in told["hint"]
    assert session.error("get_ball_history", topic="")["code"] == "NOT_FOUND"


def listed(start: ServerContext) -> list[str]:
    async def ask() -> list[str]:
        async with Client(build_server(start)) as client:
            return [tool.name for tool in await client.list_tools()]

    return asyncio.run(ask())


def test_older_names_are_listed_only_on_request(session: Session) -> None:
    start = ServerContext("/", {}, lambda: NOW_MS)
    new, old = ([f"{PREFIX}{name}" for name in names] for names in (TOOLS, OLDER_TOOLS))
    assert listed(start) == new
    everything = listed(start._replace(lists_older=True))
    assert everything[: len(new)] == new
    assert sorted(everything[len(new) :]) == sorted(old)
    # Nobody is sent to a name that goes away.
    hint = session.error("no_such_tool")["hint"]
    assert f"{PREFIX}list_edits" in hint
    assert not [name for name in old if name in hint]


PAGE = (
    *("topic", "from_entry", "limit", "summary_only", "history", "code_branch"),
    "kind",
)
WRONG: list[tuple[str, dict[str, Any], str, str]] = [
    (
        "read_thread",
        {"topic": "plan", "entry": "0", "limit": 5, "kind": "decision"},
        "read_thread with entry does not take limit or kind.",
        "It takes: topic, entry, offset, history, format",
    ),
    (
        "read_thread",
        {"topic": "plan", "offset": 5},
        "read_thread without entry does not take offset.",
        f"It takes: {', '.join(PAGE)}, format",
    ),
    (
        "read_thread",
        {"topic": "plan", "why_not_ready": True, "entry": "0"},
        "read_thread with why_not_ready does not take entry.",
        "It takes: topic, why_not_ready, format",
    ),
    (
        "get_stats",
        {"topic": "plan", "stale_after": "1h"},
        "get_stats with topic does not take stale_after.",
        "It takes: topic, format",
    ),
    (
        "list_edits",
        {"path": "a.py"},
        'list_edits with show="claims" does not take path.',
        "It takes: show, format",
    ),
    (
        "list_edits",
        {"show": "conflicts", "whose": "mine"},
        'list_edits with show="conflicts" does not take whose.',
        "It takes: show, worktree, format",
    ),
    (
        "list_edits",
        {"show": "activity", "worktree": "main"},
        'list_edits with show="activity" does not take worktree.',
        "It takes: show, path, whose, format",
    ),
    (
        "list_worktrees",
        {"change_id": "fix"},
        'list_worktrees with show="worktrees" does not take change_id.',
        "It takes: show, format",
    ),
]


@pytest.mark.usefixtures("guided")
@pytest.mark.parametrize(("tool", "arguments", "message", "hint"), WRONG)
def test_what_does_not_go_together_is_refused(
    session: Session,
    tool: str,
    arguments: dict[str, Any],
    message: str,
    hint: str,
) -> None:
    expected = {"code": "INVALID_INPUT", "message": message, "hint": hint}
    assert session.error(tool, **arguments) == expected


@pytest.mark.usefixtures("guided")
def test_an_argument_with_its_default_is_as_good_as_none(session: Session) -> None:
    """Some models write every argument."""
    words = {"from_entry": 0, "limit": 100, "summary_only": False, "kind": ""}
    text = session.text("read_thread", topic="plan", entry="0", **words)
    assert text == session.text("read_thread", topic="plan", entry="0")
