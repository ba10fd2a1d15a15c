"""The table of settings, in docs/configuration.md."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from blocks import replaced

from wc_core.ledger.configuration import keys, preferences

if TYPE_CHECKING:
    from collections.abc import Iterator

PAGE = Path(__file__).resolve().parent / "configuration.md"


def files() -> dict[Path, str]:
    """Returns each file with its path."""
    page = PAGE.read_text(encoding="utf-8")
    page = replaced(page, "settings", rows())
    return {PAGE: replaced(page, "preferences", personal_rows())}


def rows() -> Iterator[str]:
    """Yields the table of the settings of a store."""
    yield "| key | values | default | what it says |"
    yield "|---|---|---|---|"
    for key in keys.KEYS:
        default = "" if key.default is None else f"`{json.dumps(key.default)}`"
        cells = (f"`{key.name}`", key.values, default, key.help)
        yield f"| {' | '.join(cells)} |"


def personal_rows() -> Iterator[str]:
    """Yields the table of what a person may set for themselves."""
    yield "| key | values | what it says |"
    yield "|---|---|---|"
    for key in preferences.KEYS:
        yield f"| `{key.name}` | {key.values} | {key.help} |"
