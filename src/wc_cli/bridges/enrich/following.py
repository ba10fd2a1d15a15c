"""Makes summaries and vectors in the background.

The process that settles calls `follow`, and after its exchange `after_write`. A search
that misses many vectors of the model on this machine starts ``python -m
wc_cli.bridges.enrich.following`` and does not wait for it. Only `after_write` asks
servers, those of the person's preferences, about threads that were written here.
"""

from __future__ import annotations

import os
import sys
import time

from wc_cli.ledger.store import durable, locks
from wc_core.base.errors import NotFoundError, WcError
from wc_core.base.files import names_in, read_plain
from wc_core.base.layout import file_name, topic_of
from wc_core.base.lean import contextlib
from wc_core.base.phrases import counted
from wc_core.base.text import one_line
from wc_core.ledger.configuration import preferences
from wc_core.ledger.index import keys
from wc_core.ledger.threads.reader import StoreReader
from wc_core.reading.meaning import models

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from wc_cli.bridges.enrich.enriching import Enrichment
    from wc_core.base.layout import Layout

_NICENESS = 10
# For one run: how long it starts requests, and how many in a thread.
_SECONDS = 120.0
_MOST_TEXTS = 100
_ANSWER_SECONDS = 60.0


def after_write(root: str, written: Collection[str], env: Mapping[str, str]) -> bool:
    """Make the summaries and vectors that threads lack if the person chose a model:
    those just ``written``, then those left over from last time. Returns whether there
    are summaries to commit.

    One process does this: others leave a file for each thread, and it looks for these
    again before it ends. What fails is tried again after the next write.
    """
    reader = StoreReader(root)
    layout = reader.layout
    if not (_has_model(env) and os.path.isdir(layout.unsettled)):
        return False
    has_summaries = False
    with contextlib.suppress(WcError, OSError):
        if written:
            durable.make_folder(layout.unenriched, root, flush=False)
        for topic in written:
            durable.touch(_waiting_file(layout, topic), root)
        deadline = time.monotonic() + _SECONDS
        while names := names_in(layout.unenriched, root):
            handle = locks.try_acquire(layout.enrich_lock, root)
            if handle is None:
                break
            try:
                locks.sign(handle, "summarising")
                topics = sorted(map(topic_of, names), key=lambda it: it not in written)
                for topic in topics:
                    # Before it is read: who writes now adds the file again.
                    durable.remove(_waiting_file(layout, topic), root)
                    is_done, reason = _enrich(reader, topic, env, deadline)
                    has_summaries = has_summaries or is_done
                    if reason is not None:
                        path = _waiting_file(layout, topic)
                        durable.create(path, reason.encode(errors="replace"), root)
                        return has_summaries
            finally:
                os.close(handle)
    return has_summaries


def _enrich(
    reader: StoreReader, topic: str, env: Mapping[str, str], deadline: float
) -> tuple[bool, str | None]:
    """Make what a thread lacks. Returns whether there are new summaries, and if
    something remains, why: empty if only time was short."""
    # 60 ms (http, ssl), only with a model
    from wc_cli.bridges.enrich import meaning, summaries
    from wc_cli.bridges.enrich.parts import EnrichRequest
    from wc_core.base.modelserver.endpoint import Patience

    request = EnrichRequest(
        (topic,),
        _MOST_TEXTS,
        patience=Patience(_ANSWER_SECONDS, attempts=1),
        deadline=deadline,
    )
    personal, has_summaries, reason = preferences.load(env), False, None
    for part in (summaries, meaning):
        try:
            report = part.enrich(reader, personal, env, request)
        except NotFoundError:
            break  # it was deleted
        except WcError as error:
            reason = reason or error.message
            continue
        if report.part == summaries.PART and report.done:
            has_summaries = True
        if report.error is not None:
            reason = reason or report.error.message
        elif report.done == _MOST_TEXTS or time.monotonic() >= deadline:
            reason = reason or ""
    return has_summaries, reason


def _has_model(env: Mapping[str, str]) -> bool:
    personal = preferences.load(env)
    return bool(personal.summaries_endpoint.address or models.chosen(personal).model)


def _waiting_file(layout: Layout, topic: str) -> str:
    return f"{layout.unenriched}/{file_name(topic)}"


def waiting_text(layout: Layout, env: Mapping[str, str]) -> str:
    """Return how many threads wait for a model that failed, and why; empty if none
    did."""
    with contextlib.suppress(WcError, OSError):
        names = names_in(layout.unenriched, layout.root) if _has_model(env) else []
        for name in names:
            if data := read_plain(f"{layout.unenriched}/{name}", layout.root):
                reason = one_line(data.decode(errors="replace"))
                threads = counted(len(names), "thread")
                return f"no summaries or vectors yet for {threads}: {reason}"
    return ""


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
