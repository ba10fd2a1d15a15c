"""Writes the file with the vectors of entries, `wc_core.reading.meaning.vectorfile`."""

from __future__ import annotations

import os

from wc_cli.ledger.store import durable
from wc_core.base.errors import ConflictError
from wc_core.base.lean import contextlib
from wc_core.reading.meaning import vectorfile
from wc_core.reading.meaning.coverage import CoveredThreads, covered_threads
from wc_core.reading.meaning.scoring import rendered_row
from wc_core.reading.meaning.vectorfile import Header, RowKey, UnusableVectorsError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Container, Mapping, Sequence

    from wc_core.base.layout import Layout
    from wc_core.reading.meaning.models import Model
    from wc_core.reading.meaning.scoring import Vectors

# How many rows of deleted entries are tolerated, plus a tenth of the others.
_MOST_DEAD = 1000


class VectorWriter:
    """Writes the vector file of a store, for the one process that holds its lock.
    ``kept`` has the hash of each entry's text, by the key of the entry. ``covered`` has
    the key of the log of each thread that has all its vectors.

    The first vectors of a new model replace the file. Damaged rows are removed at once,
    unless nothing ``changes``.
    """

    def __init__(self, layout: Layout, model: Model, *, changes: bool = True) -> None:
        self._layout = layout
        self._model = model
        self.kept: dict[bytes, bytes] = {}
        self.covered: Mapping[str, str] = {}
        self._header: Header | None = None
        self._rows = 0
        with contextlib.suppress(UnusableVectorsError, OSError):
            self._read(changes=changes)

    def _read(self, *, changes: bool) -> None:
        model = self._model
        header = vectorfile.read_header(self._layout)
        if not header.is_of(model.name, model.dimensions):
            return
        self._header = header
        rows = [
            vectorfile.parse_row(row)
            for row in vectorfile.read_rows(self._layout, header)
        ]
        self.kept = {key.entry: key.text for key in rows if key is not None}
        self._rows = len(rows)
        whole = header.offset(len(rows)) == os.lstat(self._layout.vectors).st_size
        if whole and None not in rows:
            self.covered = covered_threads(self._layout, header)
        elif changes:
            self._rewrite(header, self.kept)

    def renew(self) -> None:
        """Have the first vectors replace the file: there may be others under the name
        of this model, and vectors of two models are never mixed."""
        self._header = None
        self._rows = 0
        self.kept, self.covered = {}, {}

    def add(self, keys: Sequence[RowKey], vectors: Vectors) -> None:
        """Append the vectors of texts. Raises StorageError, and ConflictError if those
        in the file have another length."""
        header, length = self._header, vectors.shape[1]
        if header is None:
            header = self._header = Header(self._model.name, length)
            self._rewrite(header, ())
            self._note_covered({})
        if header.dimensions != length:
            raise ConflictError(
                f"{self._model.name} makes vectors of {length} numbers now, and the "
                f"store has those of {header.dimensions}.",
                "Make all of them again: wc enrich --meaning --again",
            )
        rows = b"".join(map(rendered_row, keys, vectors))
        before = header.offset(self._rows)
        path, root = self._layout.vectors, self._layout.root
        durable.append_rows(path, rows, root, before)
        self._rows += len(keys)
        self.kept |= {key.entry: key.text for key in keys}

    def finish(self, threads: Mapping[str, str], entries: Container[bytes]) -> None:
        """Record the threads that have all their vectors now. If there are many rows
        about other things than ``entries``, drop them. Raises StorageError."""
        if self._header is None:
            return
        live = sum(entry in entries for entry in self.kept)
        if self._rows - live > max(_MOST_DEAD, live // 10):
            self._rewrite(self._header, entries)
        self._note_covered(threads)

    def note(self, threads: Mapping[str, str]) -> None:
        """Record more threads that have all their vectors now. Raises StorageError."""
        if self._header is not None:
            self._note_covered({**self.covered, **threads})

    def _note_covered(self, threads: Mapping[str, str]) -> None:
        layout = self._layout
        inode = os.lstat(layout.vectors).st_ino
        coverage = CoveredThreads(self._model.name, inode, self._rows, threads)
        durable.replace_if_changed(layout.vectors_done, coverage.render(), layout.root)
        self.covered = threads

    def _rewrite(self, header: Header, entries: Container[bytes]) -> None:
        """Rewrite the file with only the latest row about each of these entries. Raises
        StorageError."""
        layout = self._layout
        latest: dict[bytes, bytes] = {}
        if self.kept:
            for row in vectorfile.read_rows(layout, header):
                key = vectorfile.parse_row(row)
                if key is not None and key.entry in entries:
                    latest[key.entry] = row
        durable.make_folder(layout.index_folder, layout.root, flush=False)
        data = b"".join((header.render(), *latest.values()))
        durable.replace(layout.vectors, data, layout.root)
        self.kept = {key: self.kept[key] for key in latest}
        self._rows = len(latest)
