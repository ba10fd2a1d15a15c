"""What a clone has harvested: ``harvest.json`` in the private folder
(`wc_core.ledger.git.private`) has the commits of agents' branches that were examined,
and what was refused there. If it is lost, they are examined again.
"""

from __future__ import annotations

from types import MappingProxyType

from wc_core.base.files import read_plain
from wc_core.base.lean import json
from wc_core.base.text import one_line
from wc_core.base.values import NamedTuple
from wc_core.ledger.git.private import private_layout

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from wc_core.base.layout import Layout

_UNREADABLE = (OSError, ValueError, TypeError, RecursionError)


class Refused(NamedTuple):
    """A carrier, or a line of one, that was not taken: the ``commit``, or the commit
    and the path of an outbox, and why."""

    place: str
    reason: str


class Harvested(NamedTuple):
    """What was examined on a branch of a remote: up to which ``commit``, and what was
    ``refused``."""

    commit: str = ""
    refused: tuple[Refused, ...] = ()


def harvests(layout: Layout) -> Mapping[str, Harvested]:
    """What was examined, by the refs of the branches."""
    try:
        private = private_layout(layout)
        fields = _load(private.harvest, private)
        return {
            str(ref): Harvested(
                str(row["commit"]),
                tuple(Refused(str(a), str(b)) for a, b in row["refused"]),
            )
            for ref, row in fields.items()
        }
    except (*_UNREADABLE, LookupError, AttributeError):
        return MappingProxyType({})


def harvest_fields(harvested: Mapping[str, Harvested]) -> dict[str, Any]:
    """The content of ``harvest.json``."""
    return {
        ref: {"commit": row.commit, "refused": [list(pair) for pair in row.refused]}
        for ref, row in harvested.items()
    }


def _load(path: str, layout: Layout) -> dict[str, Any]:
    data = read_plain(path, layout.root)
    fields = json.loads(data or b"{}")
    return fields if isinstance(fields, dict) else {}


class Arrivals:
    """The way by which entries came here, other than the branch of the threads.

    ``harvested.jsonl`` in the store has a line for each: the id of the entry, and the
    branch. The file is a union like logs are, and read at the first question.
    """

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._ways: dict[str, str] | None = None

    def way(self, entry_id: str) -> str:
        """The branch by which an entry came; usually empty."""
        if self._ways is None:
            self._ways = _ways(self._layout)
        return self._ways.get(entry_id, "")


def _ways(layout: Layout) -> dict[str, str]:
    try:
        data = read_plain(layout.harvested, layout.root)
    except OSError:
        data = None
    ways: dict[str, str] = {}
    for line in (data or b"").splitlines():
        try:
            fields = json.loads(line)
            ways.setdefault(str(fields["entry"]), one_line(str(fields["via"])))
        except (*_UNREADABLE, LookupError):
            continue
    return ways
