"""What a clone has harvested: ``harvest.json`` in the private folder
(`wc_core.ledger.git.private`) has the commits of agents' branches that were examined,
and what was refused there. If it is lost, they are examined again.
"""

from __future__ import annotations

from types import MappingProxyType

from wc_core.base.files import read_plain
from wc_core.base.lean import json
from wc_core.base.values import NamedTuple
from wc_core.ledger.git.private import private_layout

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from wc_core.base.layout import Layout


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
        fields = json.loads(read_plain(private.harvest, private.root) or b"{}")
        return {
            str(ref): Harvested(
                str(row["commit"]),
                tuple(Refused(str(a), str(b)) for a, b in row["refused"]),
            )
            for ref, row in fields.items()
        }
    except (OSError, ValueError, TypeError, LookupError, AttributeError):
        return MappingProxyType({})
    except RecursionError:
        return MappingProxyType({})


def harvest_fields(harvested: Mapping[str, Harvested]) -> dict[str, Any]:
    """The content of ``harvest.json``."""
    return {
        ref: {"commit": row.commit, "refused": [list(pair) for pair in row.refused]}
        for ref, row in harvested.items()
    }
