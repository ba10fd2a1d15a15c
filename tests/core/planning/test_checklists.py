"""Checklists that two clones change at the same time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hypothesis import given
from hypothesis import strategies as st

from tests.core.strategies import entry, entry_id, relaxed
from wc_core.ledger.planning import checklists
from wc_core.ledger.threads import folding
from wc_core.ledger.threads.folding import in_order

if TYPE_CHECKING:
    from random import Random

    from wc_core.ledger.threads.model import Entry, State


def folded(*entries: Entry) -> State:
    return folding.fold("t", in_order(entries))


def test_items_keep_their_ids_when_others_come_and_go() -> None:
    added = entry(1, items_added=("one", "two"))
    removed = entry(2, items_removed=(f"{added.id}.1",))
    checked = entry(3, items_checked=(f"{added.id}.2", f"{added.id}.1"))
    (item,) = folded(added, removed, checked).items
    assert item == (f"{added.id}.2", "two", checked.id)
    assert checklists.lines((item,)) == ["1. [x] two"]


def test_the_later_of_two_changes_counts() -> None:
    added = entry(1, items_added=("one",))
    item_id = f"{added.id}.1"
    checked = entry(2, items_checked=(item_id,))
    undone = entry(3, items_unchecked=(item_id,))
    again = entry(4, items_checked=(item_id,))
    assert not folded(added, checked, undone).items[0].checked
    assert folded(added, checked, undone, again).items[0].checked == again.id


STEPS = st.lists(
    st.one_of(
        st.fixed_dictionaries(
            {"items_added": st.lists(st.sampled_from("abc"), max_size=2).map(tuple)}
        ),
        *(
            st.fixed_dictionaries(
                {
                    name: st.tuples(
                        st.integers(1, 9).map(lambda step: f"{entry_id(step)}.1")
                    )
                }
            )
            for name in ("items_removed", "items_checked", "items_unchecked")
        ),
    ),
    max_size=9,
)


@relaxed
@given(STEPS, st.randoms(use_true_random=False))
def test_every_order_of_arrival_gives_the_same_list(
    steps: list[dict[str, Any]], random: Random
) -> None:
    entries = [entry(number, **step) for number, step in enumerate(steps, 1)]
    shuffled = list(entries)
    random.shuffle(shuffled)
    assert folded(*shuffled).items == folded(*entries).items
