"""Which summary an entry has: its author's, otherwise a model's, otherwise its lead."""

from __future__ import annotations

from wc_core.base.files import Folder
from wc_core.base.text import one_line
from wc_core.base.values import NamedTuple
from wc_core.ledger.summaries.kept import MOST, NOTHING_KEPT, bytes_in, parse
from wc_core.ledger.summaries.lead import lead

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from wc_core.base.layout import Layout
    from wc_core.ledger.summaries.kept import KeptSummaries
    from wc_core.ledger.threads.model import Entry

AUTHOR, MODEL, LEAD = "author", "model", "lead"


class Summary(NamedTuple):
    """An entry's summary, on one line, and ``by`` whom: its `AUTHOR`, a `MODEL`, or no
    one, as its `LEAD`. Empty for an entry with only a title."""

    text: str = ""
    by: str = ""

    def to_json(self) -> dict[str, Any]:
        """Returns the fields of an entry, none if it has no summary."""
        return {"summary": self.text, "summary_by": self.by} if self.text else {}


NO_SUMMARY = Summary()


def summary_of(entry: Entry, kept: KeptSummaries = NOTHING_KEPT) -> Summary:
    """Returns the summary of an entry; ``kept`` are those of models in its thread."""
    if text := one_line(entry.summary, MOST):
        return Summary(text, AUTHOR)
    if (record := kept.of(entry)) is not None:
        return Summary(one_line(record.summary, MOST), MODEL)
    if text := lead(entry.body, entry.title):
        return Summary(text, LEAD)
    return NO_SUMMARY


def entry_summary(layout: Layout, topic: str, entry: Entry) -> Summary:
    """Returns the summary of one entry of a thread, or of the text of a correction. The
    file with those of models is read only if its author wrote none."""
    try:
        with Folder(layout.folder(topic), layout.root) as folder:
            return summary_in(folder, layout, topic, entry)
    except OSError:
        return summary_of(entry)


def summary_in(folder: Folder, layout: Layout, topic: str, entry: Entry) -> Summary:
    """Returns the result of `entry_summary`, from the open folder of the thread."""
    if entry.summary or not entry.body:
        return summary_of(entry)
    # The summary of a corrected entry is stored under that entry's id.
    original = entry._replace(id=entry.supersedes or entry.id)
    data = bytes_in(folder, layout.summaries(topic))
    return summary_of(original, parse(data, original.id) if data else NOTHING_KEPT)
