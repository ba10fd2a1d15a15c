"""The request to each part of ``wc enrich``, and its report."""

from __future__ import annotations

import math

from wc_core.base.modelserver.endpoint import USUAL
from wc_core.base.phrases import counted
from wc_core.base.values import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from wc_core.base.errors import WcError
    from wc_core.base.modelserver.endpoint import Endpoint, Patience


class EnrichRequest(NamedTuple):
    """The threads to enrich, none for all, and at most how many texts (0: all). With
    ``again``, also those that were enriched already. ``note`` is called with progress
    messages. After the ``deadline``, a monotonic time, no further text is sent."""

    topics: tuple[str, ...] = ()
    limit: int = 0
    dry_run: bool = False
    note: Callable[[str], None] = lambda _: None
    again: bool = False
    patience: Patience = USUAL
    deadline: float = math.inf


class EnrichReport(NamedTuple):
    """The result of a part: how many texts it enriched, how many it did not, and with
    which model on which server; without a ``place``, in this process. ``off`` is why it
    did nothing at all. ``error`` ended it early."""

    part: str
    done: int = 0
    remaining: int = 0
    characters: int = 0
    model: str = ""
    place: str = ""
    off: str = ""
    dry_run: bool = False
    error: WcError | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the report as JSON, with the reason for doing nothing or the error, if
        any."""
        fields: dict[str, Any] = {"part": self.part, "done": self.done}
        if self.off:
            return fields | {"off": self.off}
        fields |= {
            "remaining": self.remaining,
            "model": self.model,
            "place": self.place,
        }
        if self.dry_run:
            fields |= {"dry_run": True, "characters": self.characters}
        if self.error is not None:
            fields["error"] = self.error.message
        return fields

    def sentence(self) -> str:
        """Return the report for people."""
        if self.off:
            return f"{self.part}: {self.off}"
        place = f" at {self.place}" if self.place else ", in this process"
        server = f"{self.model}{place}"
        if self.dry_run:
            texts = counted(self.remaining, "text")
            verb = "would be sent to" if self.place else "are for"
            return (
                f"{self.part}: {texts}, {self.characters} characters, {verb} {server}"
            )
        ending = f", {self.remaining} left" if self.remaining else ""
        return f"{self.part}: {self.done} made by {server}{ending}"


def place_text(endpoint: Endpoint) -> str:
    """Return the place to which entries are sent, in words."""
    if endpoint.is_local:
        return f"{endpoint.host} (this machine)"
    if endpoint.is_readable_on_the_way:
        return f"{endpoint.host} (not encrypted)"
    return endpoint.host
