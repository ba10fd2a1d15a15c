"""The kind of an entry in words, the same wherever an entry is shown."""

from __future__ import annotations

from wc_core.ledger.threads.model import DECISION, DEFAULT_ROLE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wc_core.ledger.threads.model import Entry


def type_text(entry: Entry) -> str:
    """The type of an entry; empty if its kind implies it."""
    implied = "Decision" if entry.kind == DECISION else "Note"
    return "" if entry.kind and entry.type == implied else entry.type


def role_text(entry: Entry) -> str:
    """The role of an entry's author; empty if it is the usual one."""
    return "" if entry.role == DEFAULT_ROLE else entry.role


def kind_text(entry: Entry) -> str:
    """The kind of an entry with its severity, and who is asked; empty if it has
    none."""
    severity = f" ({entry.severity})" if entry.severity else ""
    addressee = f" to {entry.asks}" if entry.asks else ""
    return f"{entry.kind}{severity}{addressee}".strip()


def answer_text(entry: Entry) -> str:
    """Which question an entry answers; empty if it answers none."""
    return f"answers {entry.answers}" if entry.answers else ""
