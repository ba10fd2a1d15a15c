"""The gates of a thread: a time, a pull request, a command or someone's approval that
it waits for.

Entries change gates, and a gate is identified by the entry that added it, so every
clone computes the same ones. `wc_core.ledger.planning.gates` determines which are
closed.
"""

from __future__ import annotations

from wc_core.base.values import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

ADD, REMOVE = "add", "remove"
PASS, FAIL = "pass", "fail"
UNTIL, PR, COMMAND, HUMAN = "until", "pr", "command", "human"
# How many tokens may be spent on a thread, as an older wc wrote it: the field of an
# entry, and the kind of a gate, which is closed because nothing counts them.
BUDGET = "budget"


class GateChange(NamedTuple):
    """A change of a gate: ``add``, ``pass``, ``fail`` or ``remove``.

    A gate that is added has a ``kind`` (``until``, ``pr``, ``command`` or ``human``)
    and a ``value``: a time in RFC 3339, a number, a command line for ``sh``, or a name.
    All other changes have its ``id``.
    """

    change: str
    id: str = ""
    kind: str = ""
    value: str = ""


class Gate(NamedTuple):
    """A gate of a thread. ``outcome`` is that of its last check: ``pass``, ``fail``, or
    empty if there was none; ``checked_by`` is who checked it."""

    id: str
    kind: str
    value: str
    added_by: str
    outcome: str = ""
    checked_by: str = ""


def changed_gates(
    gates: Iterable[Gate], changes: Iterable[GateChange], entry_id: str, author: str
) -> tuple[Gate, ...]:
    """The gates after an entry with these changes. A change of a gate that the thread
    lacks is ignored: another clone may have removed the gate."""
    by_id = {gate.id: gate for gate in gates}
    for position, item in enumerate(changes, 1):
        if item.change == ADD:
            gate_id = f"{entry_id}.{position}"
            by_id[gate_id] = Gate(gate_id, item.kind, item.value, author)
        elif item.id in by_id and item.change == REMOVE:
            del by_id[item.id]
        elif item.id in by_id and item.change in {PASS, FAIL}:
            gate = by_id[item.id]
            by_id[item.id] = gate._replace(outcome=item.change, checked_by=author)
    return tuple(by_id.values())


def with_budget(gates: Iterable[Gate], tokens: Any, entry_id: str) -> tuple[Gate, ...]:
    """The gates after an entry of an older wc with this budget; 0 removes it."""
    if type(tokens) is not int or tokens < 0:
        return tuple(gates)
    kept = tuple(gate for gate in gates if gate.kind != BUDGET)
    return (*kept, Gate(entry_id, BUDGET, "", "")) if tokens else kept


def change_fields(changes: Iterable[GateChange]) -> list[Any]:
    """Changes in their form in a log, without empty fields."""
    return [
        {name: value for name, value in change._asdict().items() if value}
        for change in changes
    ]


def read_changes(value: Any) -> tuple[GateChange, ...] | None:
    """Changes of gates from a log; ``None`` for another shape."""
    if not isinstance(value, list):
        return None
    for item in value:
        if not (isinstance(item, dict) and item.keys() <= {*GateChange._fields}):
            return None
        if not all(isinstance(text, str) and text for text in item.values()):
            return None
        if "change" not in item:
            return None
    return tuple(GateChange(**item) for item in value)
