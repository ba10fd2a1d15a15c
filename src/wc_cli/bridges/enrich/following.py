"""Makes vectors in the background, if the model is on this machine.

The process that settles calls `follow`. A search that misses many vectors starts
``python -m wc_cli.bridges.enrich.following`` and does not wait for it. No server is
asked here: only ``wc enrich`` sends text.
"""

from __future__ import annotations

import os
import sys
import time

from wc_core.base.errors import WcError
from wc_core.base.lean import contextlib
from wc_core.ledger.configuration import preferences
from wc_core.ledger.threads.reader import StoreReader
from wc_core.lookup.index import keys
from wc_core.reading.meaning import models

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from wc_cli.bridges.enrich.enriching import Enrichment

_NICENESS = 10


def follow(root: str, topics: Iterable[str], env: Mapping[str, str]) -> None:
    """Make the vectors that threads lack, in a store that has vectors. Errors are
    ignored: a search, or ``wc enrich``, makes what is missing."""
    with contextlib.suppress(WcError, OSError):
        enrichment = _enrichment(root, env)
        if enrichment is not None:
            enrichment.follow(topics)


def _enrichment(root: str, env: Mapping[str, str]) -> Enrichment | None:
    model, _ = models.chosen(preferences.load(env))
    if model is None or not model.is_local:
        return None
    # 0.1 s (numpy), for some of the writes to stores with vectors.
    from wc_cli.bridges.enrich import enriching

    return enriching.enrichment(StoreReader(root), model, env)


def main() -> None:
    """Run as ``python -m wc_cli.bridges.enrich.following ROOT HANDLE``. HANDLE is the
    lock that allows one such process, inherited from the command that started it."""
    root, handle = sys.argv[1:]
    os.set_inheritable(int(handle), False)
    with contextlib.suppress(OSError):
        os.nice(_NICENESS)
    # Include recent writes.
    time.sleep(keys.TICK_SECONDS)
    with contextlib.suppress(WcError, OSError):
        enrichment = _enrichment(root, dict(os.environ))
        if enrichment is not None:
            enrichment.run()


if __name__ == "__main__":
    main()
