"""The files of what sessions cost."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from wc_core.base.layout import Layout
from wc_core.people.cost import ledger
from wc_core.people.cost.ledger import CostRow, SessionCost, Spent
from wc_core.people.cost.usage import Meter, Usage

if TYPE_CHECKING:
    from pathlib import Path

NUMBERS = st.integers(0, 1 << 60)
USAGES = st.builds(Usage, NUMBERS, NUMBERS, NUMBERS, NUMBERS)
COSTS = st.builds(
    SessionCost,
    st.text(),
    NUMBERS,
    st.builds(Meter, st.dictionaries(st.text(), USAGES), st.none() | USAGES),
    NUMBERS,
    st.text(),
    st.dictionaries(st.text(), st.builds(Spent, USAGES, NUMBERS, NUMBERS)),
)


def test_files_are_read_as_they_were_written(tmp_path: Path) -> None:
    layout = Layout(str(tmp_path))
    path = tmp_path / "session"

    @given(cost=COSTS)
    def check(cost: SessionCost) -> None:
        path.write_bytes(ledger.encode(cost))
        assert ledger.load(layout, str(path)) == cost

    check()


def test_a_file_that_cannot_be_read_is_left_out(tmp_path: Path) -> None:
    layout = Layout(str(tmp_path))
    folder = tmp_path / ".local/cost"
    folder.mkdir(parents=True)
    cost = SessionCost("Codex (Pat)").with_spent("auth", Spent(turns=1))
    (folder / "good").write_bytes(ledger.encode(cost))
    (folder / "newer").write_bytes(b'{"version": 2}')
    (folder / "cut").write_bytes(ledger.encode(cost)[:-5])
    (folder / "none").write_bytes(b"")
    (folder / "folder").mkdir()
    assert ledger.all_costs(layout) == [cost]


def test_sessions_of_an_agent_are_added_up() -> None:
    tokens = Spent(Usage(output=5), 1, 2000)
    first = SessionCost("Codex").with_spent("auth", tokens)
    second = SessionCost("Codex").with_spent("auth", tokens).with_spent("", tokens)
    third = SessionCost("Gemini").with_spent("auth", tokens)
    assert ledger.rows([first, second, third]) == [
        CostRow("auth", "Codex", Spent(Usage(output=10), 2, 4000)),
        CostRow("", "Codex", tokens),
        CostRow("auth", "Gemini", tokens),
    ]
