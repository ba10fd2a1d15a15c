"""The words that threads and entries use."""

from __future__ import annotations

from wc_core.ledger.threads.model import (
    ACTIONS,
    ENTRY_TYPES,
    KINDS,
    ROLES,
    SEVERITIES,
    STATUSES,
)


def vocabulary_fields() -> dict[str, list[str]]:
    """Returns the possible values of the thread and entry fields that have a fixed
    list."""
    return {
        "statuses": list(STATUSES),
        "roles": list(ROLES),
        "types": list(ENTRY_TYPES),
        "kinds": list(KINDS),
        "severities": list(SEVERITIES),
        "actions": list(ACTIONS),
    }


def vocabulary_text(fields: dict[str, list[str]]) -> str:
    """Returns one line per field."""
    return "".join(f"{key}: {', '.join(words)}\n" for key, words in fields.items())
