"""What the changes that few entries make come to: questions, names, links, checklists,
gates, reviews; and which ids a wrong clock dated before what their authors had seen."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.core.strategies import entry
from wc_core.ledger.threads import entryfields, folding
from wc_core.ledger.threads.boxes import with_ticks
from wc_core.ledger.threads.gates import Gate
from wc_core.ledger.threads.landings import NO_LANDING, Landing
from wc_core.ledger.threads.model import (
    Ball,
    Entry,
    Item,
    State,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

PAT, CODEX, ZED = "Pat", "Codex (Pat)", "Zed (Pat)"


def after(*entries: Entry) -> State:
    """The state after entries that follow one another."""
    return folding.fold("login", entries)


def test_items_have_the_id_of_their_entry_and_their_position() -> None:
    added = entry(1, items_added=("tests", "docs"))
    first, second = f"{added.id}.1", f"{added.id}.2"
    assert after(added).items == (Item(first, "tests"), Item(second, "docs"))
    checked = entry(2, items_checked=(second, "none"))
    done = Item(second, "docs", checked.id)
    assert after(added, checked).items == (Item(first, "tests"), done)
    unchecked = entry(3, items_unchecked=(second,))
    assert after(added, checked, unchecked).items[1] == Item(second, "docs")
    removed = entry(4, items_removed=(first,))
    assert after(added, checked, removed).items == (done,)


def test_a_gate_of_an_older_version_has_the_number_of_its_entry() -> None:
    changes = [{"change": "add", "kind": "human", "value": PAT}]
    added = entry(1, PAT, extra={"gates": changes})
    gate = Gate(f"{added.id}.1", "1")
    assert after(entry(0), added).gates == (gate,)
    assert gate.is_closed(added.at)
    passed = entry(2, PAT, extra={"gates": [{"change": "pass", "id": gate.id}]})
    assert not after(entry(0), added, passed).gates[0].is_closed(passed.at)
    removed = entry(2, PAT, extra={"gates": [{"change": "remove", "id": gate.id}]})
    assert after(entry(0), added, removed).gates == ()


@pytest.mark.parametrize(
    "changes", ["x", [5], [{"id": "x"}], [{"change": "add", "value": 5}], [{}]]
)
def test_gates_of_another_shape_stop_nothing(changes: object) -> None:
    assert after(entry(0, extra={"gates": changes})).gates == ()


def test_a_gate_with_a_time_opens_with_a_later_entry() -> None:
    change = {"change": "add", "kind": "until", "value": "2026-01-02T00:00:00.000Z"}
    (gate,) = after(entry(0, extra={"gates": [change]})).gates
    assert gate.is_closed("2026-01-01T23:00:00Z")
    assert not gate.is_closed("2026-01-02T01:00:00+01:00")
    assert gate.is_closed("once")


STEPS = """\
- [ ] one
  * [x] two
```
- [ ] three
```
- [] four
+ [ ] five"""


def test_boxes_are_items_and_ticks_are_kept() -> None:
    first = entry(0, PAT, body=STEPS)
    tick = entry(1, CODEX, items_checked=(f"{first.id}#3", "unknown"))
    state = after(first, tick)
    assert [item.text for item in state.items] == ["one", "two", "five"]
    assert [bool(item.checked) for item in state.items] == [False, True, True]
    shown = with_ticks(STEPS, state.items)
    assert shown == STEPS.replace("+ [ ] five", "+ [x] five")
    amended = entry(2, PAT, action="amend", supersedes=first.id, body="- [ ] five")
    assert [bool(item.checked) for item in after(first, tick, amended).items] == [True]
    retracted = entry(2, PAT, action="retract", supersedes=first.id)
    assert after(first, tick, retracted).items == ()


def test_items_of_an_older_version_follow_the_text() -> None:
    first = entry(0, PAT, body="- [ ] one")
    added = entry(1, PAT, action="checklist", items_added=("two", "three"))
    state = after(first, added, entry(2, PAT, items_checked=(f"{added.id}.2",)))
    assert with_ticks("- [ ] one", state.items) == "- [ ] one\n\n- [ ] two\n- [x] three"
    assert with_ticks("", state.items[1:]) == "- [ ] two\n- [x] three"


LANDED = Landing("main", "b", "t", "c")
FAILED = Landing("main", "b", "t", "", "conflict")


def test_failures_to_land_in_a_row_are_counted() -> None:
    first, second = entry(1, PAT, landing=FAILED), entry(2, PAT, landing=FAILED)
    assert after(begin(), first).landing == FAILED._replace(failures=1)
    assert after(begin(), first, second).landing == FAILED._replace(failures=2)
    done = entry(3, PAT, landing=LANDED)
    assert after(begin(), first, second, done).landing == LANDED
    again = entry(4, PAT, landing=FAILED)
    assert after(begin(), first, done, again).landing.failures == 1


def test_a_thread_that_is_reopened_has_not_landed() -> None:
    done = entry(1, PAT, status="CLOSED", landing=LANDED)
    later = entry(2, PAT, title="Thanks")
    assert after(begin(), done, later).landing == LANDED
    reopened = entry(2, PAT, status="OPEN")
    assert after(begin(), done, reopened).landing == NO_LANDING
    failed = entry(2, PAT, status="OPEN", landing=FAILED)
    assert after(begin(), done, failed).landing == FAILED._replace(failures=1)


def begin() -> Entry:
    return entry(0, PAT, ball=Ball(CODEX))


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"onto": "main"},
        {"onto": "main", "tip": "t"},
        {"onto": "main", "tip": "t", "commit": "c", "problem": "conflict"},
        {"onto": "main", "tip": "t", "commit": ""},
        {"onto": "main", "tip": "t", "commit": "c", "later": "x"},
        {"onto": "main", "tip": "t", "commit": 1},
        [],
    ],
)
def test_another_form_of_a_landing_is_kept_as_it_is(fields: object) -> None:
    line = {"entry_id": "E", "landing": fields}
    read = entryfields.from_fields("t", dict(line))
    assert read is not None
    assert read.landing == NO_LANDING
    assert entryfields.to_fields(read)["landing"] == fields


def ids_of(entries: Sequence[Entry]) -> list[str]:
    return [one.id for one in entries]


def test_what_a_clock_dated_before_what_was_seen() -> None:
    first, ahead = entry(1), entry(50)
    answer = entry(2)._replace(parents=(ahead.id,))
    later = entry(3)._replace(parents=(answer.id,))
    right = entry(60)._replace(parents=(later.id,))
    ahead = ahead._replace(parents=(first.id,))
    log = [first, ahead, answer, later, right]
    assert folding.newest_seen(log) == {answer.id: ahead.id, later.id: ahead.id}
    assert folding.newest_seen([first._replace(parents=None)]) == {}
    assert folding.newest_seen([first._replace(parents=())]) == {}
    joined = entry(4)._replace(parents=(first.id, ahead.id))
    assert folding.newest_seen([first, ahead, joined]) == {joined.id: ahead.id}


def test_the_same_id_is_not_before_itself() -> None:
    first = entry(1)
    same = first._replace(parents=(first.id,))
    assert folding.newest_seen([same]) == {}


def test_an_entry_without_parents_follows_the_one_before_it() -> None:
    """An older tool's entry among entries of a wrong clock."""
    begun, other = entry(0)._replace(parents=()), entry(3)._replace(parents=())
    ahead = entry(50)._replace(parents=())
    early = entry(1)._replace(parents=(ahead.id,))
    plain = entry(2)._replace(parents=None)
    ordered = folding.in_effect_order([begun, early, plain, other, ahead])
    assert ids_of(ordered) == ids_of([begun, other, ahead, early, plain])


def test_entries_that_name_each_other_come_in_the_order_of_their_ids() -> None:
    one, two, three = entry(1), entry(2), entry(3)
    one = one._replace(parents=(two.id,))
    two = two._replace(parents=(one.id,))
    three = three._replace(parents=(two.id,))
    ordered = folding.in_effect_order([one, two, three])
    assert ids_of(ordered) == ids_of([one, two, three])
