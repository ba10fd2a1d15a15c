"""The gates and budgets of older versions: what a thread waits for, besides other
threads.

No command makes them, so their entries have them in ``extra``. A thread that waits at
one stays stopped: see `wc_core.ledger.planning.older`.
"""

from __future__ import annotations

from wc_core.base.times import milliseconds
from wc_core.base.values import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

# The keys of an entry that changes gates, or says how many tokens may be spent.
GATES, BUDGET = "gates", "budget"
_PASS, _FAIL = "pass", "fail"


class Gate(NamedTuple):
    """A gate of a thread, added by the entry with this ``number``. ``opens`` is the
    time at which it opens by itself, ``pass`` once it was passed, or empty. A budget
    is a gate that never opens, because nothing counts tokens: its ``id`` is that of
    its entry."""

    id: str
    number: str
    opens: str = ""

    @property
    def is_budget(self) -> bool:
        """Whether it is a budget."""
        return "." not in self.id

    @property
    def is_timed(self) -> bool:
        """Whether it opens at a time."""
        return self.opens not in {"", _PASS}

    def is_closed(self, at: str) -> bool:
        """Whether the thread still waited there at a time, as RFC 3339."""
        if self.opens == _PASS:
            return False
        end, now = milliseconds(self.opens), milliseconds(at)
        return end is None or now is None or now < end


def changed_gates(
    gates: Iterable[Gate], changes: Any, entry_id: str, number: int
) -> tuple[Gate, ...]:
    """The gates after the changes of an entry, as they are in the log. A change of a
    gate that the thread lacks is ignored: another clone may have removed the gate."""
    by_id = {gate.id: gate for gate in gates}
    for position, item in enumerate(_valid(changes), 1):
        gate_id = item.get("id", "")
        change = item["change"]
        if change == "add":
            opens = item.get("value", "") if item.get("kind") == "until" else ""
            new_id = f"{entry_id}.{position}"
            by_id[new_id] = Gate(new_id, str(number), opens)
        elif gate_id in by_id and change == "remove":
            del by_id[gate_id]
        elif gate_id in by_id and not by_id[gate_id].is_timed:
            opens = {_PASS: _PASS, _FAIL: ""}.get(change, by_id[gate_id].opens)
            by_id[gate_id] = by_id[gate_id]._replace(opens=opens)
    return tuple(by_id.values())


def with_budget(
    gates: Iterable[Gate], tokens: Any, entry_id: str, number: int
) -> tuple[Gate, ...]:
    """The gates after an entry with this budget; 0 removes it."""
    if type(tokens) is not int or tokens < 0:
        return tuple(gates)
    kept = tuple(gate for gate in gates if not gate.is_budget)
    return (*kept, Gate(entry_id, str(number))) if tokens else kept


def _valid(changes: Any) -> list[dict[str, str]]:
    """Changes that an older version understands; none if one of them has another
    shape."""
    if not isinstance(changes, list):
        return []
    for item in changes:
        if not isinstance(item, dict) or "change" not in item:
            return []
        if not item.keys() <= {"change", "id", "kind", "value"}:
            return []
        if not all(isinstance(text, str) and text for text in item.values()):
            return []
    return changes
