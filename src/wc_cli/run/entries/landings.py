"""Has the branches looked at again that wait to land, where that is due."""

from __future__ import annotations

from wc_core.ledger.git import repository as repositories
from wc_core.ledger.planning import unlanded
from wc_core.ledger.threads.reader import StoreReader

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping


def refresh(
    root: str, env: Mapping[str, str], topics: Collection[str] | None = None
) -> None:
    """Find out which approved branches wait to land, after a change of these threads,
    or of any."""
    reader = StoreReader(root)
    is_due = topics is None or unlanded.is_due(reader, topics)
    if is_due and repositories.find(root) is not None:
        # 20 ms, only where something may land
        from wc_cli.edits.landing import waiting

        waiting.refresh(reader, env, topics)
