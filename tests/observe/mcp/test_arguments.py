"""Which arguments of a tool go together."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.observe.stores import Session, Store


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
