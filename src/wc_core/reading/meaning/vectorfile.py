r"""The file with the vectors of entries: its format.

It begins with `HEADER_BYTES` of ASCII: a line with the version of the format, one with
JSON that names the model and its dimensions, and spaces up to a last newline. Then come
rows of one length, without anything between them:

    8 bytes   of the hash of the topic
    26 bytes  the id of the entry, or a hash of an id that is not a plain ULID
    8 bytes   of the hash of the text that the vector is of
    4 bytes   the number of which each of the vector's is a multiple, a float
    4 bytes   the CRC-32 of the rest of the row
    n bytes   the vector, a signed byte for each dimension

Numbers have their least byte first. Rows are appended; of two rows about an entry, the
later one counts. A file that begins with another header is of another version or model:
nothing in it is used. What is left of an unfinished row, at the end, is not used
either, and the CRC of a row is checked before it is.
"""

from __future__ import annotations

import json
import struct
from binascii import crc32
from hashlib import blake2b

from wc_core.base import ulid
from wc_core.base.files import read_from
from wc_core.base.values import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    from wc_core.base.layout import Layout
    from wc_core.ledger.threads.model import Entry

VERSION = "watercooler vectors 1"
HEADER_BYTES = 512
PREFIX = struct.Struct("<8s26s8sfI")
HASH_BYTES = 8
MOST_DIMENSIONS = 8192
# More of a text makes its vector vaguer: on long entries, searches find less with all
# of it. It is also what fits into the smallest of the usual models.
_MOST_TEXT = 2000
# The number of bytes to read at a time.
_PIECE = 1 << 20


class Header(NamedTuple):
    """The model of the vectors in a file, and how many numbers each has."""

    model: str
    dimensions: int

    @property
    def row_bytes(self) -> int:
        """The length of a row."""
        return PREFIX.size + self.dimensions

    def rows(self, size: int) -> int:
        """Returns how many whole rows a file of ``size`` bytes has."""
        return max(0, size - HEADER_BYTES) // self.row_bytes

    def offset(self, row: int) -> int:
        """Returns the offset of a row."""
        return HEADER_BYTES + row * self.row_bytes

    def is_of(self, model: str, dimensions: int) -> bool:
        """Returns whether its vectors are of a model, with these dimensions (0: any).
        Those of different models have nothing in common."""
        return self.model == model and dimensions in (0, self.dimensions)

    def render(self) -> bytes:
        """Returns it as the beginning of a file."""
        fields = {"model": self.model, "dimensions": self.dimensions}
        text = f"{VERSION}\n{json.dumps(fields)}\n"
        return f"{text:<{HEADER_BYTES - 1}}\n".encode()


class UnusableVectorsError(Exception):
    """There is no file, or one that must not be used."""


class RowKey(NamedTuple):
    """The content of a row apart from its vector: which entry, and a hash of its
    text."""

    entry: bytes
    text: bytes


def fits(model: str) -> bool:
    """Returns whether a header can contain a model's name."""
    return len(Header(model, MOST_DIMENSIONS).render()) == HEADER_BYTES


def parse_header(data: bytes) -> Header:
    """Returns the header at the beginning of a file. Raises UnusableVectorsError."""
    version, _, line = data[:HEADER_BYTES].partition(b"\n")
    if version != VERSION.encode():
        raise UnusableVectorsError("it has another version")
    try:
        fields = json.loads(line)
        header = Header(str(fields["model"]), int(fields["dimensions"]))
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise UnusableVectorsError("its header is damaged") from error
    in_limits = 0 < header.dimensions <= MOST_DIMENSIONS
    if not in_limits or header.render() != data[:HEADER_BYTES]:
        raise UnusableVectorsError("its header is damaged")
    return header


def read_header(layout: Layout) -> Header:
    """Returns the header of a store's file. Raises UnusableVectorsError."""
    try:
        return parse_header(read_from(layout.vectors, layout.root, 0, HEADER_BYTES))
    except FileNotFoundError:
        raise UnusableVectorsError("it is missing") from None
    except OSError as error:
        raise UnusableVectorsError(f"it {error.strerror}") from error


def text_of(entry: Entry) -> str:
    """Returns the text of an entry that has a vector; empty if there is none."""
    return f"{entry.title}\n{entry.body[:_MOST_TEXT]}".strip()


def text_hash(text: str) -> bytes:
    """Returns a row's hash of its text."""
    return _hash(text)


def topic_hash(topic: str) -> bytes:
    """Returns a row's hash of its topic."""
    return _hash(topic)


def id_key(entry_id: str) -> bytes:
    """Returns a row's form of its entry's id."""
    if entry_id and ulid.prefix(entry_id) == entry_id:
        return entry_id.encode()
    # No ULID begins with this letter.
    return b"~" + _hash(entry_id).hex().encode() + b"-" * (ulid.LENGTH - 1 - 16)


def plain_id(key: bytes) -> str:
    """Returns the id in a row; empty if it has a hash of the id."""
    return "" if key[:1] == b"~" else key.decode(errors="replace")


def entry_key(topic: str, entry_id: str) -> bytes:
    """Returns the beginning of the rows about an entry."""
    return topic_hash(topic) + id_key(entry_id)


def _hash(text: str) -> bytes:
    data = text.encode(errors="surrogatepass")
    return blake2b(data, digest_size=HASH_BYTES).digest()


def render_row(key: RowKey, scale: float, vector: bytes) -> bytes:
    """Returns a row."""
    names = key.entry[:HASH_BYTES], key.entry[HASH_BYTES:], key.text
    check = crc32(PREFIX.pack(*names, scale, 0) + vector)
    return PREFIX.pack(*names, scale, check) + vector


def parse_row(row: bytes) -> RowKey | None:
    """Returns the content of a row; ``None`` if it is damaged."""
    topic, entry, text, scale, check = PREFIX.unpack_from(row)
    if check != crc32(PREFIX.pack(topic, entry, text, scale, 0) + row[PREFIX.size :]):
        return None
    return RowKey(topic + entry, text)


def split_rows(pieces: Iterable[bytes], header: Header) -> Iterator[bytes]:
    """Yields each whole row after a header."""
    unfinished = b""
    length = header.row_bytes
    for piece in pieces:
        data = unfinished + piece
        end = len(data) - len(data) % length
        yield from (data[at : at + length] for at in range(0, end, length))
        unfinished = data[end:]


def read_rows(layout: Layout, header: Header) -> Iterator[bytes]:
    """Yields each whole row of the file of a store. Raises OSError."""
    return split_rows(_pieces(layout), header)


def _pieces(layout: Layout) -> Iterator[bytes]:
    start = HEADER_BYTES
    while piece := read_from(layout.vectors, layout.root, start, _PIECE):
        yield piece
        start += len(piece)


def has_vector(fields: Any) -> bool:
    """Returns whether a value of JSON is a vector: finite numbers, not all zero."""
    return (
        isinstance(fields, list)
        and 0 < len(fields) <= MOST_DIMENSIONS
        and all(type(number) in _NUMBERS for number in fields)
        and all(-_MOST < number < _MOST for number in fields)
        and any(fields)
    )


_NUMBERS = frozenset({int, float})
# Not even a sum of squares of such numbers is infinite in four bytes.
_MOST = 1e15
