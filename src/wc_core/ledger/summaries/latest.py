"""The summary of a thread's last entry, from the end of its log."""

from __future__ import annotations

from wc_core.base.errors import WcError
from wc_core.base.files import Folder
from wc_core.base.values import NamedTuple
from wc_core.ledger.summaries.choosing import NO_SUMMARY, Summary, summary_in
from wc_core.ledger.threads import codec
from wc_core.ledger.threads.revisions import AMEND, RETRACT, has_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from wc_core.base.layout import Layout
    from wc_core.ledger.threads.model import Entry
    from wc_core.ledger.threads.reader import StoreReader

# An entry that begins before this many last bytes of a log is ignored.
_TAIL = 1 << 15


class LatestWords(NamedTuple):
    """The last author in a thread, and their words. Both are empty if there is none."""

    author: str = ""
    summary: Summary = NO_SUMMARY

    def to_json(self) -> dict[str, Any]:
        """Returns the summary and its author; nothing if there is none."""
        if not self.summary.text:
            return {}
        return self.summary.to_json() | {"summary_of": self.author}


NO_WORDS = LatestWords()


def latest_words(reader: StoreReader, topic: str) -> LatestWords:
    """Returns the last entry with more than a title, in short. Only the end of the log
    is read; a thread that cannot be read gives nothing."""
    layout = reader.layout
    try:
        with Folder(layout.folder(topic), layout.root) as folder:
            return _words_in(folder, layout, topic)
    except (OSError, WcError):
        return NO_WORDS


def _words_in(folder: Folder, layout: Layout, topic: str) -> LatestWords:
    for entry in _texts_backwards(folder, layout, topic):
        summary = summary_in(folder, layout, topic, entry)
        if summary.text:
            return LatestWords(entry.agent, summary)
    return NO_WORDS


def latest_entry(reader: StoreReader, topic: str) -> Entry | None:
    """Returns the last entry with a title or a text that is still valid, from the end
    of the log; ``None`` if there is none, or the thread cannot be read."""
    layout = reader.layout
    try:
        with Folder(layout.folder(topic), layout.root) as folder:
            return next(_texts_backwards(folder, layout, topic), None)
    except (OSError, WcError):
        return None


def _texts_backwards(folder: Folder, layout: Layout, topic: str) -> Iterator[Entry]:
    """Yields the entries with text that were not retracted, last one first."""
    retracted = set[str]()
    for entry in _entries_backwards(topic, folder.tail(layout.log(topic), _TAIL)):
        if entry.action == RETRACT:
            retracted.add(entry.supersedes)
        is_text = has_text(entry) or entry.action == AMEND
        if is_text and not retracted & {entry.id, entry.supersedes}:
            yield entry


def _entries_backwards(topic: str, tail: bytes) -> Iterator[Entry]:
    """Yields the entries at the end of a log, last one first."""
    for line in reversed(tail.split(b"\n")):
        if line.strip():
            # The first one may begin within an entry.
            entry = codec.read_line(topic, line)
            if not isinstance(entry, codec.BadLine):
                yield entry
