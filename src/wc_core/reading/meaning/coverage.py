r"""The file that says which threads have a vector for each of their entries.

Its lines: `VERSION`; the model; the inode of the file of vectors and how many rows it
had; the topic of each thread, a tab, and the part of its key that is about its log;
last ``=`` and the CRC-32 of all before. It is replaced as a whole. It says nothing if
anything of this is otherwise, or if the file of vectors has fewer rows: then all logs
are read.
"""

from __future__ import annotations

import os
from binascii import crc32

from wc_core.base.files import read_plain
from wc_core.base.values import NamedTuple
from wc_core.ledger.index import keys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from wc_core.base.layout import Layout
    from wc_core.reading.meaning.vectorfile import Header

VERSION = "watercooler vectors of threads 1"
NO_VECTORS = "entries have no vectors yet: wc enrich --meaning makes them"
# Work that is acceptable while a user waits: 70 ms of entries whose vectors are not in
# the file yet.
_MOST_THREADS = 50
_MOST_BYTES = 1 << 17
_HEAD_LINES = 3
_MAX_BYTES = 64 * 1024 * 1024


class CoveredThreads(NamedTuple):
    """The threads with vectors, each with the key of its log, as of this many ``rows``
    of the file with this ``inode``."""

    model: str
    inode: int
    rows: int
    threads: Mapping[str, str]

    def render(self) -> bytes:
        """Returns it as file content."""
        lines = [VERSION, self.model, f"{self.inode} {self.rows}"]
        lines += [f"{topic}\t{key}" for topic, key in self.threads.items()]
        data = "".join(f"{line}\n" for line in lines).encode(errors="surrogatepass")
        return data + b"=%d\n" % crc32(data)


def parse(data: bytes) -> CoveredThreads | None:
    """Returns the content of a file; ``None`` if it is damaged or of another
    version."""
    end = data.rfind(b"=")
    if end < 0 or data[end:] != b"=%d\n" % crc32(data[:end]):
        return None
    version, *lines = data[:end].decode(errors="surrogatepass").split("\n")
    if version != VERSION or len(lines) < _HEAD_LINES:
        return None
    model, place, *topics = lines
    inode, _, rows = place.partition(" ")
    threads = dict(line.rsplit("\t", 1) for line in topics if line)
    return CoveredThreads(model, int(inode), int(rows), threads)


def covered_threads(layout: Layout, header: Header) -> Mapping[str, str]:
    """Returns the key of the log of each thread whose entries all have a row in the
    existing file with this header."""
    try:
        coverage = parse(
            read_plain(layout.vectors_done, layout.root, _MAX_BYTES) or b""
        )
        info = os.lstat(layout.vectors)
    except (OSError, ValueError):
        return {}
    if coverage is None or coverage.model != header.model:
        return {}
    if info.st_ino != coverage.inode or header.rows(info.st_size) < coverage.rows:
        return {}
    return coverage.threads


def has_file(layout: Layout) -> bool:
    """Returns whether a store has a file of vectors, of any kind."""
    return os.path.lexists(layout.vectors)


def are_few(thread_keys: Iterable[str]) -> bool:
    """Returns whether the vectors of all entries of the threads with these keys can be
    computed while a user waits."""
    logs = [keys.log_size(key) for key in thread_keys if key]
    return len(logs) <= _MOST_THREADS and sum(logs) <= _MOST_BYTES
