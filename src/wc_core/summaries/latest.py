"""What the last entry of a thread says, from the end of its log."""

from __future__ import annotations

from wc_core.errors import WcError
from wc_core.files import read_from, size_of
from wc_core.summaries.choosing import NO_SUMMARY, Summary, entry_summary
from wc_core.threads import codec
from wc_core.threads.revisions import AMEND, RETRACT, has_text
from wc_core.values import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from wc_core.threads.model import Entry
    from wc_core.threads.reader import StoreReader

# An entry that begins before the last so many bytes of a log is not looked at.
_TAIL = 1 << 15


class LatestWords(NamedTuple):
    """Who said something in a thread last, and what. Both are empty if nobody did."""

    author: str = ""
    summary: Summary = NO_SUMMARY

    def to_json(self) -> dict[str, Any]:
        """Returns the summary and its author; nothing if there is none."""
        if not self.summary.text:
            return {}
        return self.summary.to_json() | {"summary_of": self.author}


NO_WORDS = LatestWords()


def latest_words(reader: StoreReader, topic: str) -> LatestWords:
    """Returns what the last entry says that says more than a title. Only the end of the
    log is read; a thread that cannot be read says nothing."""
    retracted = set[str]()
    for entry in _entries_backwards(reader, topic):
        if entry.action == RETRACT:
            retracted.add(entry.supersedes)
        original = entry.supersedes if entry.action == AMEND else entry.id
        is_said = has_text(entry) or entry.action == AMEND
        if not is_said or original in retracted:
            continue
        # An amendment is kept under the id of what it corrects.
        text = entry._replace(id=original)
        summary = entry_summary(reader.layout, topic, text)
        if summary.text:
            return LatestWords(entry.agent, summary)
    return NO_WORDS


def _entries_backwards(reader: StoreReader, topic: str) -> Iterator[Entry]:
    """Yields the entries at the end of a log, the last one first."""
    root = reader.layout.root
    try:
        path = reader.layout.log(topic)
        start = max(0, size_of(path, root) - _TAIL)
        data = read_from(path, root, start)
    except (OSError, WcError):
        return
    lines = data.split(b"\n")
    for line in reversed(lines[1:] if start else lines):
        if line.strip():
            entry = codec.read_line(topic, line)
            if not isinstance(entry, codec.BadLine):
                yield entry
