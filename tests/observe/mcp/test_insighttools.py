"""Where a ball has been, and a store in figures, as models read it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wc_core.reading.views import stats
from wc_observe.answers.quoting import NOTICE

if TYPE_CHECKING:
    from tests.observe.stores import Session, Store


def test_the_history_of_a_ball(store: Store, session: Session) -> None:
    store.thread(
        "plan",
        store.give("plan", "Codex (pat)", title="Start"),
        store.give("plan", "Claude Code (pat)"),
        store.give("plan", "Codex (pat)", agent="Claude Code (pat)"),
    )
    assert session.text("get_stats", topic="plan") == (
        'thread plan: "Start"\n'
        f"{NOTICE}\n"
        "status: OPEN, ball: Codex (pat), there for 29d 23h, changed hands 2 times, "
        "bounced 1 time, free for 0s\n"
        f"store: {store.root}\n"
        "# ball | since | for | by\n"
        "- Codex (pat) | 2026-01-01T00:01:00.000Z | 1m | Codex (pat) #0\n"
        "- Claude Code (pat) | 2026-01-01T00:02:00.000Z | 1m | Codex (pat) #1\n"
        "- Codex (pat) | 2026-01-01T00:03:00.000Z | 29d 23h | Claude Code (pat) #2\n"
    )
    found = session.json("get_stats", topic="plan")
    assert (found["changes"], found["bounces"], found["total"]) == (2, 1, 3)
    assert found["longest"]["by"] == "Claude Code (pat)"
    assert found["holders"][0]["spells"] == 2


def test_a_long_history_is_cut_and_says_so(store: Store, session: Session) -> None:
    names = ["Codex (pat)", "Claude Code (pat)"]
    store.thread("plan", *(store.give("plan", names[i % 2]) for i in range(500)))
    text = session.text("get_stats", topic="plan")
    assert len(text) < 3_000
    assert "truncated: the last 20 of 500; all: wc stats plan --limit 0\n" in text
    found = session.json("get_stats", topic="plan")
    assert (len(found["spells"]), found["total"]) == (stats.ROWS, 500)
    assert found["truncated"]


def test_the_figures_of_many_threads_stay_small(store: Store, session: Session) -> None:
    for number in range(120):
        topic = f"t{number}"
        title = "Very long " * 100
        store.thread(topic, store.give(topic, f"Agent {number}", title=title))
    text = session.text("get_stats")
    assert len(text) < 12_000
    assert "authors and bounces: of the 100 threads that moved last\n" in text
    assert "truncated: 20 rows of each list, 120 stale in all; " in text
    found = session.json("get_stats")
    assert [len(found[one]) for one in ("balls", "stale", "busiest")] == [20, 20, 20]
    assert found["truncated"]


def test_errors_say_what_to_do(store: Store, session: Session) -> None:
    store.thread("plan")
    told = session.error("get_stats", stale_after="long ago")
    assert (told["code"], told["hint"]) == (
        "INVALID_INPUT",
        "Write 90m, 36h, 2d or 1w.",
    )
    told = session.error("get_stats", topic="plam")
    assert told["code"] == "NOT_FOUND"
    assert "plan" in told["hint"]
