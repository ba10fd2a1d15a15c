"""The gates of a thread: which are closed, and what they wait for in words.

A time gate is the only one whose outcome depends on the current time. The others have
the outcome of their last check, which is an entry.
"""

from __future__ import annotations

from wc_core.base.errors import InvalidInputError
from wc_core.base.text import one_line
from wc_core.base.times import age_ms, coming_day_ms, milliseconds, rfc3339
from wc_core.ledger.threads import vocabulary
from wc_core.ledger.threads.gates import (
    ADD,
    BUDGET,
    COMMAND,
    FAIL,
    HUMAN,
    PASS,
    PR,
    UNTIL,
    Gate,
    GateChange,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

# What only an older wc could judge.
_OLDER = frozenset({BUDGET})
_SHOWN_COMMAND = 40
_MIDNIGHT = "T00:00:00.000Z"


def is_closed(gate: Gate, now_ms: int) -> bool:
    """Whether a thread still waits at a gate. A gate of a kind unknown to this version
    is closed until someone passes it."""
    if gate.kind == UNTIL:
        return now_ms < (end_ms(gate) or 0)
    return gate.outcome != PASS


def stopped_by_older(gates: Iterable[Gate]) -> str:
    """What an older wc lets a thread wait for, in words; empty if nothing. It lasts
    until a person ends it (`ended_fields`), so that nothing goes on because this
    version forgot it."""
    return ", ".join(words(gate) for gate in gates if gate.kind in _OLDER)


def ended_fields(gates: Iterable[Gate]) -> dict[str, Any]:
    """The fields of an entry in a log that end what an older wc stopped, for older
    ones, too."""
    return {BUDGET: 0} if stopped_by_older(gates) else {}


def end_ms(gate: Gate) -> int | None:
    """When a time gate opens, in milliseconds since 1970; ``None`` for another gate."""
    return milliseconds(gate.value) if gate.kind == UNTIL else None


def next_end(gates: Iterable[Gate], now_ms: int) -> int | None:
    """When the next time gate opens after now; ``None`` if there is none."""
    ends = (end_ms(gate) for gate in gates)
    return min((end for end in ends if end and end > now_ms), default=None)


def words(gate: Gate) -> str:
    """What a thread waits for at a gate: ``2026-12-01``, ``pull request #12``."""
    value = one_line(gate.value)
    if gate.kind == UNTIL:
        return value.removesuffix(_MIDNIGHT).replace("T", " ").replace(":00.000Z", "Z")
    if gate.kind == PR:
        return f"pull request #{value}"
    if gate.kind == COMMAND:
        cut = value[: _SHOWN_COMMAND - 1] + "…"
        return f"`{value if len(value) <= _SHOWN_COMMAND else cut}`"
    if gate.kind == HUMAN:
        return f"the approval of {value}"
    if gate.kind in _OLDER:
        return f"a {gate.kind} of an older wc"
    return f"{one_line(gate.kind)} {value}"


def as_gate(change: GateChange) -> Gate:
    """The gate that a change adds, for display before it is added."""
    return Gate("", change.kind, change.value, "")


def to_json(gate: Gate, number: int, now_ms: int) -> dict[str, Any]:
    """The gate shape."""
    fields: dict[str, Any] = {
        "number": number,
        "kind": gate.kind,
        "value": gate.value,
        "closed": is_closed(gate, now_ms),
        "added_by": gate.added_by,
    }
    if gate.outcome:
        fields |= {"outcome": gate.outcome, "checked_by": gate.checked_by}
    return fields


def wait_text(gate: Gate, number: int, name: str) -> str:
    """What a thread waits for at its gate with this number, and the command that opens
    it: ``waits for pull request #12; to check it: …``."""
    text = f"waits for {words(gate)}"
    if gate.outcome == FAIL:
        text += ", which failed at the last check"
    if gate.kind == HUMAN:
        text += f"; to give it: wc gate {name} --pass {number}"
    elif gate.kind in {PR, COMMAND}:
        text += f"; to check it: wc gate check {name}"
    elif gate.kind in _OLDER:
        text += f"; to go on: wc ready {name} --anyway"
    return text


def until(text: str, now_ms: int) -> GateChange:
    """A time gate: a date or time (in UTC if it names no zone), an age from now, such
    as ``3d``, or the beginning of a day, such as ``friday``. Raises InvalidInputError,
    also for a time in the past."""
    distance = age_ms(text)
    moment = milliseconds(text.strip()) if distance is None else now_ms + distance
    if moment is None:
        moment = coming_day_ms(text, now_ms)
    if moment is None:
        raise InvalidInputError(
            f"{text!r} is not a time.",
            "Write 2026-12-01, 2026-12-01T09:00:00+01:00, friday, or 3d for three "
            "days.",
        )
    if moment <= now_ms:
        raise InvalidInputError(
            f"{text!r} is in the past.", "A gate waits for a time in the future."
        )
    return GateChange(ADD, kind=UNTIL, value=rfc3339(moment))


def pull_request(text: str) -> GateChange:
    """A gate that waits until a pull request is merged. Raises InvalidInputError."""
    (number,) = vocabulary.pr_refs([text])
    return GateChange(ADD, kind=PR, value=str(number))


def command(text: str) -> GateChange:
    """A gate that waits until a command succeeds. Raises InvalidInputError."""
    return GateChange(ADD, kind=COMMAND, value=vocabulary.command(text))


def human(name: str) -> GateChange:
    """A gate that waits for someone's approval. Raises InvalidInputError."""
    return GateChange(ADD, kind=HUMAN, value=vocabulary.title(name))
