"""A command of the person's for notifications, which writes down what it is told."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from pathlib import Path


class Told(NamedTuple):
    """A notification: what the command read."""

    fields: dict[str, Any]


class Receiver:
    """A file with a line for each notification."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "told"

    @property
    def command(self) -> str:
        return f"{{ cat; echo; }} >>{self.path}"

    @property
    def told(self) -> list[Told]:
        text = self.path.read_text() if self.path.exists() else ""
        return [Told(json.loads(line)) for line in text.splitlines()]

    def wait(self, count: int, seconds: float = 20.0) -> list[Told]:
        """The notifications, as soon as there are so many."""
        end = time.monotonic() + seconds
        while len(self.told) < count and time.monotonic() < end:
            time.sleep(0.02)
        assert len(self.told) >= count, self.told
        return self.told
