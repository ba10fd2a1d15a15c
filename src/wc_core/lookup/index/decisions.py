"""The part of the index that has the recent decisions, for the brief.

Keys of files, which show whether a part of the index is up to date, take three system
calls for each thread; a brief cannot afford them. So wc leaves a trace of each thread
that it wrote to, until this file has its decisions: the marker of a thread that is not
settled, then an empty file in ``settled``, then a line in ``behind``. Each is created
before the previous one is removed, so a reader who reads them in this order misses
none.

The file is UTF-8 text. Its first line is `HEADER` and a ULID: every decision that was
made later, in the logs that were indexed, has a line with its id and its topic,
separated by a tab. Retracted decisions may be among them, so the log decides. The last
line has ``=`` and the CRC-32 of what is before it; so does the last line of ``behind``.
"""

from __future__ import annotations

from binascii import crc32

from wc_core.base.errors import WcError
from wc_core.base.files import names_in, read_plain
from wc_core.base.layout import topic_of
from wc_core.base.values import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from wc_core.base.layout import Layout

HEADER = "watercooler decisions 1"
# A brief covers at most a week.
KEPT_MS = 8 * 24 * 3600 * 1000
_MAX_BYTES = 1 << 26


class RecentDecisions(NamedTuple):
    """The latest decision of each thread that has one after the ULID ``floor``, and the
    threads that are still ``unindexed``."""

    floor: str
    latest: Mapping[str, str]
    unindexed: frozenset[str]


def load(layout: Layout) -> RecentDecisions | None:
    """Returns the recent decisions; ``None`` if they are not in the index, or if a part
    of it is missing or damaged."""
    try:
        # In the order in which threads pass from one to the next.
        unindexed = set(topics_in(layout, layout.unsettled))
        unindexed.update(topics_in(layout, layout.index_settled))
        behind = load_behind(layout)
    except WcError:
        return None
    lines = read_lines(layout, layout.recent_decisions)
    if behind is None or not lines:
        return None
    version, _, floor = lines[0].rpartition(" ")
    if version != HEADER:
        return None
    latest: dict[str, str] = {}
    for line in lines[1:]:
        entry_id, _, topic = line.partition("\t")
        latest[topic] = max(entry_id, latest.get(topic, ""))
    return RecentDecisions(floor, latest, frozenset(unindexed | behind))


def topics_in(layout: Layout, folder: str) -> list[str]:
    """Returns the topics that the files in a folder are named after. Raises
    StorageError and CorruptError."""
    return [topic_of(name) for name in names_in(folder, layout.root)]


def load_behind(layout: Layout) -> frozenset[str] | None:
    """Returns the topics in the file ``behind``; ``None`` if it is missing or
    damaged."""
    lines = read_lines(layout, layout.index_behind)
    return None if lines is None else frozenset(lines)


def render(floor: str, decisions: Iterable[tuple[str, str]]) -> bytes:
    """Returns the bytes of the file for decisions: the id and the topic of each."""
    lines = (f"{entry_id}\t{topic}" for entry_id, topic in decisions)
    return render_lines((f"{HEADER} {floor}", *lines))


def render_lines(lines: Iterable[str]) -> bytes:
    """Returns lines with their checksum."""
    data = "\n".join((*lines, "")).encode(errors="surrogatepass")
    return data + b"=%d\n" % crc32(data)


def read_lines(layout: Layout, path: str) -> list[str] | None:
    """Returns the lines of a file without the checksum; ``None`` if the file is missing
    or its checksum is wrong."""
    try:
        data = read_plain(path, layout.root, _MAX_BYTES) or b""
    except OSError:
        return None
    return lines_in(data)


def lines_in(data: bytes) -> list[str] | None:
    """Returns the lines of `render_lines`; ``None`` if their checksum is wrong."""
    end = data.rfind(b"\n=") + 1
    if data[end:] != b"=%d\n" % crc32(data[:end]):
        return None
    return data[:end].decode(errors="surrogatepass").split("\n")[:-1]
