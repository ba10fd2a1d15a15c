"""The part of ``wc enrich`` that makes vectors, with which searches find entries by
meaning."""

from __future__ import annotations

import time

from wc_cli.bridges.enrich.parts import EnrichReport, EnrichRequest, place_text
from wc_core.base.errors import WcError
from wc_core.base.modelserver.endpoint import Endpoint
from wc_core.reading.meaning import models

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from wc_core.ledger.configuration.preferences import Preferences
    from wc_core.ledger.threads.reader import StoreReader

PART = "meaning"
_NOTE_SECONDS = 5.0


def enrich(
    reader: StoreReader,
    preferences: Preferences,
    env: Mapping[str, str],
    request: EnrichRequest,
) -> EnrichReport:
    """Make the vectors of entries that have none. Raises NotFoundError for a thread
    that does not exist. Errors of the model are in the report."""
    model, reason = models.chosen(preferences)
    if model is None:
        return EnrichReport(PART, off=f"searches go by words alone: {reason}")
    from wc_cli.bridges.enrich import enriching  # 0.2 s (numpy), with a model alone

    place = place_text(Endpoint(model.endpoint, model.name)) if model.endpoint else ""
    report = EnrichReport(PART, model=model.name, place=place, dry_run=request.dry_run)
    enrichment = enriching.enrichment(
        reader, model, env, _progress(request), request.patience
    )
    topics = [reader.find(topic) for topic in request.topics]
    if request.dry_run:
        entries = enrichment.plan(topics, request.limit, again=request.again)
        characters = sum(len(entry.text) for entry in entries)
        return report._replace(remaining=len(entries), characters=characters)
    error: WcError | None = None
    try:
        enrichment.run(topics, request.limit, again=request.again)
    except WcError as failure:
        error = failure
    for entry, refusal in enrichment.refused:
        request.note(f"{entry.topic}: {refusal.message}")
    remaining = enrichment.waiting - enrichment.done
    return report._replace(done=enrichment.done, remaining=remaining, error=error)


def _progress(request: EnrichRequest) -> Callable[[int, int], None]:
    """Return a function that reports progress now and then."""
    noted = time.monotonic()

    def report_progress(done: int, total: int) -> None:
        nonlocal noted
        if time.monotonic() - noted >= _NOTE_SECONDS and done < total:
            noted = time.monotonic()
            request.note(f"{PART}: {done} of {total} entries")

    return report_progress
