"""What was said last in a thread, from the end of its log: the last entry in which its
author says something (`revisions.has_own_text`), with its latest text."""

from __future__ import annotations

from wc_core.base.errors import WcError
from wc_core.base.files import Folder
from wc_core.base.text import one_line
from wc_core.base.values import NamedTuple
from wc_core.ledger.summaries.choosing import (
    AUTHOR,
    NO_SUMMARY,
    Summary,
    summary_in,
)
from wc_core.ledger.summaries.kept import MOST
from wc_core.ledger.threads import codec
from wc_core.ledger.threads.revisions import AMEND, RETRACT, has_own_text
from wc_core.ledger.threads.ways import with_ways

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
    """Who said something last in a thread, and their words. Both are empty if no one
    has said more than the thread's title."""

    author: str = ""
    summary: Summary = NO_SUMMARY

    def to_json(self) -> dict[str, Any]:
        """Returns the summary and its author; nothing if there is none."""
        if not self.summary.text:
            return {}
        return self.summary.to_json() | {"summary_of": self.author}


NO_WORDS = LatestWords()


def latest_words(reader: StoreReader, topic: str, title: str) -> LatestWords:
    """Returns what was said last, in short: its summary, or its title if that is not
    the ``title`` of the thread. Only the end of the log is read; a thread that cannot
    be read gives nothing."""
    layout = reader.layout
    try:
        with Folder(layout.folder(topic), layout.root) as folder:
            entry = latest_text_in(folder, layout, topic)
            if entry is None:
                return NO_WORDS
            summary = summary_in(folder, layout, topic, entry)
    except (OSError, WcError):
        return NO_WORDS
    if not summary.text and entry.title != title:
        summary = Summary(one_line(entry.title, MOST), AUTHOR)
    return LatestWords(entry.agent, summary) if summary.text else NO_WORDS


def latest_entry(reader: StoreReader, topic: str) -> Entry | None:
    """Returns the entry in which something was said last, or its correction; ``None``
    if there is none, or the thread cannot be read."""
    layout = reader.layout
    try:
        with Folder(layout.folder(topic), layout.root) as folder:
            return latest_text_in(folder, layout, topic)
    except (OSError, WcError):
        return None


def latest_text_in(
    folder: Folder, layout: Layout, topic: str, last_line: bytes = b""
) -> Entry | None:
    """Returns the result of `latest_entry`, from the open folder of the thread.
    ``last_line`` of its log is enough if that says something. Raises OSError."""
    entries = _entries_backwards(topic, last_line[:_TAIL])
    latest = next(filter(has_own_text, entries), None)
    if latest is None:
        latest = next(_texts_backwards(folder, layout, topic), None)
    return None if latest is None else with_ways([latest], layout)[0]


def _texts_backwards(folder: Folder, layout: Layout, topic: str) -> Iterator[Entry]:
    """Yields the entries in which something is said and that were not retracted, last
    one first."""
    retracted = set[str]()
    for entry in _entries_backwards(topic, folder.tail(layout.log(topic), _TAIL)):
        if entry.action == RETRACT:
            retracted.add(entry.supersedes)
        is_text = has_own_text(entry) or entry.action == AMEND
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
