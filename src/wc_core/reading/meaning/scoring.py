"""How near the vectors of a file are to the vector of a query.

The file is read in pieces that fit into the processor's cache, and not mapped into
memory: if another process truncated a mapped file, touching the map would kill this
one. 500,000 vectors of 256 numbers take 35 ms.
"""

from __future__ import annotations

import os

import numpy as np

from wc_core.base.files import open_folder
from wc_core.base.lean import contextlib
from wc_core.base.values import NamedTuple
from wc_core.reading.meaning.vectorfile import (
    HEADER_BYTES,
    PREFIX,
    RowKey,
    UnusableVectorsError,
    parse_header,
    parse_row,
    render_row,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Self, TypeAlias

    from numpy.typing import NDArray

    from wc_core.base.layout import Layout

    Vectors: TypeAlias = NDArray[np.float32]

_MOST_BYTE = 127
_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
# Numbers that are multiplied at a time: a megabyte of floats.
_NUMBERS_AT_ONCE = 1 << 18
_SCALE = 42
_TOO_FEW = 4


class Nearest(NamedTuple):
    """The rows of the entries nearest to a query, nearest first, and their nearness: 1
    is the same direction. ``floor`` is the greatest nearness of all others."""

    rows: list[tuple[RowKey, float]]
    floor: float


def unit(numbers: object) -> Vectors:
    """Returns a vector of length 1 in the same direction. Raises ValueError."""
    vector = np.asarray(numbers, np.float32)
    length = float(np.linalg.norm(vector))
    if vector.ndim != 1 or not 0 < length < np.inf:
        raise ValueError("this vector has no direction")
    return vector / np.float32(length)


def rendered_row(key: RowKey, vector: Vectors) -> bytes:
    """Returns the row with a vector, whose numbers are reduced to one byte each."""
    scale = float(np.max(np.abs(vector), initial=0)) / _MOST_BYTE
    numbers = np.rint(vector / (scale or 1)).astype(np.int8)
    return render_row(key, scale, numbers.tobytes())


def row_vector(row: bytes) -> Vectors:
    """Returns the vector in a row."""
    scale = PREFIX.unpack_from(row)[3]
    return np.frombuffer(row, np.int8, offset=PREFIX.size) * np.float32(scale)


class VectorFile:
    """The file of a store, open for reading: a context manager.

    Raises UnusableVectorsError if there is none, or one that must not be used.
    """

    def __init__(self, layout: Layout) -> None:
        try:
            folder = open_folder(layout.index_folder, layout.root)
            try:
                name = os.path.basename(layout.vectors)
                self._handle = os.open(name, _FLAGS, dir_fd=folder)
            finally:
                os.close(folder)
        except OSError as error:
            raise UnusableVectorsError(str(error.strerror)) from error
        try:
            self.header = parse_header(os.pread(self._handle, HEADER_BYTES, 0))
            self.rows = self.header.rows(os.fstat(self._handle).st_size)
        except OSError as error:
            os.close(self._handle)
            raise UnusableVectorsError(str(error.strerror)) from error
        except UnusableVectorsError:
            os.close(self._handle)
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._handle)

    def nearest(
        self, query: Vectors, count: int, accepts: Callable[[bytes], bool]
    ) -> Nearest:
        """Returns the nearest ``count`` rows whose key passes ``accepts``, at most one
        for each entry. Raises UnusableVectorsError."""
        if query.shape != (self.header.dimensions,):
            raise UnusableVectorsError("it has other dimensions than the query")
        try:
            scores = self._scores(query)
            return self._best(scores, count, accepts)
        except OSError as error:
            raise UnusableVectorsError(str(error.strerror)) from error

    def _best(
        self, scores: Vectors, count: int, accepts: Callable[[bytes], bool]
    ) -> Nearest:
        """The best rows. If an entry has several, its latest row counts, provided that
        it is among them."""
        limit = count
        while True:
            limit = min(limit * _TOO_FEW, len(scores))
            places = self._places(scores, limit)
            latest: dict[bytes, tuple[RowKey, float]] = {}
            for place in places:
                key = parse_row(self._row(place))
                if key is not None and accepts(key.entry):
                    latest[key.entry] = key, float(scores[place])
            if len(latest) > count or limit == len(scores):
                break
        best = sorted(latest.values(), key=_nearest_first)
        floor = best[count][1] if len(best) > count else 0.0
        return Nearest(best[:count], max(floor, 0.0))

    def _places(self, scores: Vectors, count: int) -> list[int]:
        """The rows with this many of the best scores, in their order in the file."""
        if not count:
            return []
        return sorted(map(int, np.argpartition(-scores, count - 1)[:count]))

    def _row(self, place: int) -> bytes:
        header = self.header
        row = os.pread(self._handle, header.row_bytes, header.offset(place))
        if len(row) < header.row_bytes:
            raise UnusableVectorsError("it was cut off")
        return row

    def _scores(self, query: Vectors) -> Vectors:
        """The nearness of each row; none for a row that is not a vector."""
        scores = np.empty(self.rows, np.float32)
        numbers = np.empty((self._rows_at_once, self.header.dimensions), np.float32)
        with np.errstate(all="ignore"):
            for start, rows in self._pieces():
                # Into the same memory each time, which stays in the cache.
                part = numbers[: len(rows)]
                np.copyto(part, rows[:, PREFIX.size :])
                scale = rows[:, _SCALE : _SCALE + 4].copy().view(np.float32)[:, 0]
                scores[start : start + len(rows)] = part @ query * scale
        scores[~np.isfinite(scores)] = -np.inf
        return scores

    @property
    def _rows_at_once(self) -> int:
        return max(1, _NUMBERS_AT_ONCE // self.header.dimensions)

    def _pieces(self) -> Iterator[tuple[int, NDArray[np.int8]]]:
        header, at_once = self.header, self._rows_at_once
        space = bytearray(at_once * header.row_bytes)
        rows = np.frombuffer(space, np.int8).reshape(at_once, header.row_bytes)
        for start in range(0, self.rows, at_once):
            count = min(at_once, self.rows - start)
            part = memoryview(space)[: count * header.row_bytes]
            if os.preadv(self._handle, [part], header.offset(start)) < len(part):
                raise UnusableVectorsError("it was cut off")
            yield start, rows[:count]


def _nearest_first(row: tuple[RowKey, float]) -> tuple[float, bytes]:
    return -row[1], row[0].entry


@contextlib.contextmanager
def opened(layout: Layout, model: str, dimensions: int = 0) -> Iterator[VectorFile]:
    """The file of a store, if its vectors are of this model and these dimensions (0:
    any). Raises UnusableVectorsError."""
    with VectorFile(layout) as file:
        if not file.header.is_of(model, dimensions):
            raise UnusableVectorsError(f"it has vectors of {file.header.model}")
        yield file
