"""What an older version stopped stays stopped, until a person decides."""

from __future__ import annotations

from wc_core.ledger.threads.gates import BUDGET, GATES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from wc_core.ledger.threads.gates import Gate
    from wc_core.ledger.threads.model import State


def stopped_by_older(gates: Iterable[Gate], updated_at: str) -> str:
    """What a thread waits for that this version does not make: ``a gate of an older wc:
    #3``, or ``a budget``, with the numbers of the entries; empty if nothing stops it. A
    gate with a time counts until the thread has an entry of a later time
    (``updated_at``)."""
    closed = [gate for gate in gates if gate.is_closed(updated_at)]
    parts = []
    for word, are_budgets in (("gate", False), ("budget", True)):
        found = (gate.number for gate in closed if gate.is_budget == are_budgets)
        numbers = ", ".join(f"#{number}" for number in dict.fromkeys(found))
        if numbers:
            parts.append(f"a {word} of an older wc: {numbers}")
    return " and ".join(parts)


def release(state: State) -> dict[str, Any]:
    """The fields of an entry that lets a thread go on. Older versions read them as the
    removal of its gates and of its budget."""
    gates = [gate for gate in state.gates if not gate.is_budget]
    changes = [{"change": "remove", "id": gate.id} for gate in gates]
    fields: dict[str, Any] = {GATES: changes} if changes else {}
    return fields if len(gates) == len(state.gates) else fields | {BUDGET: 0}
