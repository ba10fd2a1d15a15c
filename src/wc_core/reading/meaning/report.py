"""How much of a store searches can find by meaning, in one sentence."""

from __future__ import annotations

import os

from wc_core.base.phrases import counted
from wc_core.base.values import NamedTuple
from wc_core.reading.meaning import models
from wc_core.reading.meaning.vectorfile import UnusableVectorsError, read_header

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wc_core.base.layout import Layout
    from wc_core.ledger.configuration.preferences import Preferences


class MeaningReport(NamedTuple):
    """A ``sentence``: which model is used, where text is sent for it, and how many
    entries have a vector; or why searches use only words. ``is_plain`` if it is not
    worth showing: nothing was set up, and nothing is missing. ``is_optional`` if only
    an extra is missing that was never used here."""

    sentence: str
    is_plain: bool = False
    is_optional: bool = False


def meaning_report(
    layout: Layout, preferences: Preferences, entries: int
) -> MeaningReport:
    """Returns the report on a store with this many entries."""
    model, reason = models.chosen(preferences)
    if model is None:
        sentence = f"searches go by words alone: {reason} (docs/search.md#meaning)"
        is_used = bool(
            preferences.problem
            or preferences.meaning_endpoint.address
            or os.path.lexists(layout.vectors)
        )
        return MeaningReport(
            sentence, is_plain=not preferences.by_meaning, is_optional=not is_used
        )
    place = "text stays on this machine"
    if not model.is_local:
        place = f"text is sent to {model.endpoint}"
    try:
        header = read_header(layout)
        size = os.lstat(layout.vectors).st_size
    except (UnusableVectorsError, OSError):
        header, size = None, 0
    if header is None or not header.is_of(model.name, model.dimensions):
        is_plain = model.is_local and not os.path.lexists(layout.vectors)
        state = "no entry has a vector of it; to make them: wc enrich"
        return MeaningReport(f"meaning: {model.name}, {place}; {state}", is_plain)
    # One for each entry, and a few for texts corrected since.
    rows = min(header.rows(size), entries)
    state = f"{rows} of {counted(entries, 'entry', 'entries')} have a vector"
    return MeaningReport(f"meaning: {model.name}, {place}; {state}")
