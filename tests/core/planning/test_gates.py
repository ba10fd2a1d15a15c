"""Gates: what is closed, when it opens, and that every clone has the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.strategies import entry, gate_changes, relaxed
from wc_core.base.errors import InvalidInputError
from wc_core.base.times import milliseconds
from wc_core.ledger.planning import duefiles, gates
from wc_core.ledger.planning.readiness import PlannedThread, ThreadPlan
from wc_core.ledger.threads import folding
from wc_core.ledger.threads.folding import in_order
from wc_core.ledger.threads.gates import Gate, GateChange
from wc_core.ledger.threads.model import Entry, Link, State

if TYPE_CHECKING:
    from random import Random

NOON = milliseconds("2026-12-01T12:00:00Z") or 0
HOUR = 3_600_000


def folded(*entries: Entry) -> State:
    return folding.fold("t", in_order(entries))


def gate(kind: str, value: str, outcome: str = "") -> Gate:
    return Gate("1", kind, value, "Codex", outcome)


def planned(topic: str, *own: Gate, part_of: str = "") -> PlannedThread:
    links = (Link("parent", part_of, "01"),) if part_of else ()
    return PlannedThread(topic, topic, "", "OPEN", None, "free", links, own)


@pytest.mark.parametrize(
    ("item", "words", "is_closed"),
    [
        (gate("until", "2026-12-02T00:00:00.000Z"), "2026-12-02", True),
        (gate("until", "2026-12-01T13:30:00.000Z"), "2026-12-01 13:30Z", True),
        (gate("until", "2026-12-01T12:00:00.000Z"), "2026-12-01 12:00Z", False),
        (gate("until", "some day"), "some day", False),
        (gate("pr", "12"), "pull request #12", True),
        (gate("pr", "12", "fail"), "pull request #12", True),
        (gate("pr", "12", "pass"), "pull request #12", False),
        (gate("command", "make test"), "`make test`", True),
        (gate("command", "x" * 41), f"`{'x' * 39}…`", True),
        (gate("human", "Pat"), "the approval of Pat", True),
        (gate("human", "Pat", "pass"), "the approval of Pat", False),
        (gate("moon", "full"), "moon full", True),
        (gate("moon", "full", "pass"), "moon full", False),
    ],
)
def test_what_a_gate_waits_for(item: Gate, words: str, *, is_closed: bool) -> None:
    assert gates.words(item) == words
    assert gates.is_closed(item, NOON) is is_closed
    reasons = ThreadPlan([planned("a", item)], NOON).obstacles("a")
    assert [reason.words for reason in reasons] == [words] * is_closed


def test_parts_wait_for_the_gates_of_the_whole() -> None:
    whole = planned("whole", gate("pr", "12"))
    plan = ThreadPlan([whole, planned("part", part_of="whole")], NOON)
    (reason,) = plan.obstacles("part")
    assert reason.text == (
        "whole, which it is part of, waits for pull request #12; "
        "to check it: wc gate check whole"
    )


def test_time_opens_a_gate_without_a_write() -> None:
    later = gate("until", "2026-12-01T13:00:00.000Z")
    assert ThreadPlan([planned("a", later)], NOON).obstacles("a")
    assert ThreadPlan([planned("a", later)], NOON + HOUR).is_ready("a")
    assert gates.next_end([later, gate("pr", "1")], NOON) == NOON + HOUR
    assert gates.next_end([later], NOON + HOUR) is None
    state = State("a", gates=(later,))
    assert duefiles.end_file(state, NOON) == f"due/{NOON + HOUR}.a"
    assert duefiles.end_file(state, NOON + HOUR) == ""
    assert duefiles.end_file(state._replace(status="CLOSED"), NOON) == ""


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("2026-12-02", "2026-12-02T00:00:00.000Z"),
        ("2026-12-01T14:00:00+01:00", "2026-12-01T13:00:00.000Z"),
        ("90m", "2026-12-01T13:30:00.000Z"),
    ],
)
def test_times_are_understood(text: str, value: str) -> None:
    assert gates.until(text, NOON) == GateChange("add", kind="until", value=value)


@pytest.mark.parametrize("text", ["soon", "2026-13-01", "2026-12-01", "0m"])
def test_a_time_that_is_none_or_over_is_refused(text: str) -> None:
    with pytest.raises(InvalidInputError):
        gates.until(text, NOON)


@pytest.mark.parametrize("text", ["", "x", "0"])
def test_what_is_no_pull_request_is_refused(text: str) -> None:
    with pytest.raises(InvalidInputError):
        gates.pull_request(text)


def test_a_gate_has_the_outcome_of_its_last_check() -> None:
    added = entry(1, gates=(GateChange("add", kind="command", value="true"),))
    gate_id = f"{added.id}.1"
    failed = entry(2, gates=(GateChange("fail", gate_id),), agent="Codex")
    passed = entry(3, gates=(GateChange("pass", gate_id),), agent="Pat")
    (item,) = folded(added, failed, passed).gates
    assert (item.outcome, item.checked_by) == ("pass", "Pat")
    removed = entry(4, gates=(GateChange("remove", gate_id),))
    assert folded(added, removed, failed).gates == ()


@relaxed
@given(st.lists(gate_changes, max_size=6), st.randoms(use_true_random=False))
def test_every_order_of_arrival_gives_the_same_gates(
    changes: list[tuple[GateChange, ...]], random: Random
) -> None:
    entries = [entry(number, gates=item) for number, item in enumerate(changes)]
    shuffled = list(entries)
    random.shuffle(shuffled)
    assert folded(*shuffled).gates == folded(*entries).gates
