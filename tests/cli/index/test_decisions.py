"""A brief names the same decisions with its part of the index and without it."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.cli.store.test_writer import Shop
from tests.core.strategies import viewer
from wc_cli.ledger.index import entriesfile, keeping, making
from wc_core.base.errors import WcError
from wc_core.ledger.threads.proposals import Draft
from wc_core.lookup.index import decisions as recent
from wc_core.reading.views.remarks import decisions_since

if TYPE_CHECKING:
    from collections.abc import Callable

    from wc_core.reading.views.remarks import NewDecision

# Beyond every key of a file, so that all of it can be indexed.
LATER_NS = 10**19
HOUR_MS = 3600 * 1000


class DecidingShop(Shop):
    """A store outside git, in which decisions are made."""

    def __init__(self, root: str) -> None:
        super().__init__(root)
        self.layout = self.reader.layout
        self.writer("Pat").prepare_store()
        # The file has the decisions of the last days.
        self.start_ms = self.clock.now_ms = time.time_ns() // 1_000_000 - HOUR_MS

    def write(self, topic: str, action: str, who: str = "Pat", kind: str = "") -> None:
        if not self.reader.has(topic):
            self._write(Draft(topic, "new", topic, new=True), "Zed")
        draft = Draft(topic, action, f"{topic} {self.clock.now_ms}", kind=kind)
        try:
            self._write(draft, who)
        except WcError:
            assert action != "ack", "only what there is can be corrected"

    def _write(self, draft: Draft, who: str) -> None:
        self.clock.now_ms += 1000
        self.writer(who).write(draft, self.clock.source())

    def decide(self, topic: str, who: str = "Pat") -> None:
        self.write(topic, "ack", who, "decision")

    def note(self, topic: str) -> None:
        self.write(topic, "ack", "Zed")

    def amend(self, topic: str) -> None:
        self.write(topic, "amend")

    def retract(self, topic: str) -> None:
        self.write(topic, "retract")

    def settle_all(self, _: str) -> None:
        self.settle()

    def collect(self, _: str) -> None:
        keeping.note_behind(self.layout)

    def index(self, _: str) -> None:
        """As the background process, if it looks long enough after the writes."""
        behind = keeping.note_behind(self.layout)
        is_whole = recent.load(self.layout) is not None
        keeping.index_entries(
            self.reader,
            lambda: (
                entriesfile.update(self.reader, behind, lambda: LATER_NS)
                if is_whole
                else entriesfile.rebuild(self.reader, lambda: LATER_NS)
            ),
        )

    def index_at_once(self, topic: str) -> None:
        """What was written just now cannot be indexed yet."""
        keeping.update(self.layout.root, [topic])

    def make(self, _: str) -> None:
        making.rebuild(self.layout.root)

    def cut(self, _: str) -> None:
        for name in ("decisions", "behind", "entries.db"):
            path = Path(self.layout.index_folder, name)
            if path.exists():
                os.truncate(path, path.stat().st_size * 2 // 3)

    def delete(self, topic: str) -> None:
        name = {"t": "decisions", "u": "behind"}.get(topic, "")
        path = Path(self.layout.index_folder, name)
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)

    def shown(self, since_ms: int = 0) -> tuple[NewDecision, ...]:
        since_ms = since_ms or self.start_ms
        return decisions_since(self.reader, viewer(), since_ms, lambda: False)

    def shown_without_index(self, since_ms: int = 0) -> tuple[NewDecision, ...]:
        hidden = f"{self.layout.index_folder}.hidden"
        if not os.path.isdir(self.layout.index_folder):
            return self.shown(since_ms)
        os.rename(self.layout.index_folder, hidden)
        shown = self.shown(since_ms)
        os.rename(hidden, self.layout.index_folder)
        return shown


STEPS: tuple[Callable[[DecidingShop, str], None], ...] = (
    *(DecidingShop.decide, DecidingShop.decide, DecidingShop.note),
    *(DecidingShop.amend, DecidingShop.retract, DecidingShop.settle_all),
    *(DecidingShop.settle_all, DecidingShop.collect, DecidingShop.index),
    *(DecidingShop.index, DecidingShop.index_at_once, DecidingShop.make),
    *(DecidingShop.cut, DecidingShop.delete),
)


@pytest.fixture
def shop(tmp_path: Path) -> DecidingShop:
    return DecidingShop(os.fspath(tmp_path))


@settings(deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from(STEPS), st.sampled_from(("t", "u", "v"))),
        min_size=4,
        max_size=20,
    )
)
def test_of_what_wc_writes_a_brief_misses_nothing(
    steps: list[tuple[Callable[[DecidingShop, str], None], str]],
) -> None:
    with tempfile.TemporaryDirectory() as root:
        shop = DecidingShop(root)
        # What is written after this may be in any part of the index.
        shop.index("")
        for step, topic in steps:
            step(shop, topic)
            since_ms = shop.clock.now_ms - 5000
            assert shop.shown(since_ms) == shop.shown_without_index(since_ms)


def test_a_decision_is_found_wherever_it_is_on_its_way(shop: DecidingShop) -> None:
    shop.index("")
    shop.decide("t")
    (decided,) = shop.shown()
    for step, part in (
        (DecidingShop.settle_all, shop.layout.index_settled),
        (DecidingShop.collect, shop.layout.index_behind),
        (DecidingShop.index, shop.layout.recent_decisions),
    ):
        step(shop, "t")
        content = (
            "".join(os.listdir(part)) if os.path.isdir(part) else Path(part).read_text()
        )
        assert "t" in content.split("watercooler")[-1]
        assert shop.shown() == (decided,)
    indexed = recent.load(shop.layout)
    assert indexed is not None
    assert (indexed.latest, indexed.unindexed) == ({"t": decided.id}, frozenset())


def test_logs_without_decisions_are_not_read(shop: DecidingShop) -> None:
    for number in range(9):
        shop.decide(f"t{number}")
        shop.note(f"u{number}")
    shop.settle()
    shop.index("")
    shown = shop.shown()
    assert [decision.topic for decision in shown] == [f"t{n}" for n in range(8, 2, -1)]
    # Neither those that decide nothing, nor what was decided before the last six.
    for name in (*(f"u{number}" for number in range(9)), "t0", "t1"):
        os.unlink(shop.layout.log(name))
        os.mkfifo(shop.layout.log(name))
    assert shop.shown() == shown
