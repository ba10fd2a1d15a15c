"""Makes the vectors of a store's entries that have none for their current text."""

from __future__ import annotations

import os
import time

from wc_cli.bridges.enrich.vectors import VectorWriter
from wc_cli.ledger.store import locks
from wc_core.base.errors import WcError
from wc_core.base.modelserver.endpoint import USUAL, EndpointError
from wc_core.base.values import NamedTuple
from wc_core.ledger.index import keys
from wc_core.reading.meaning.embedding import embedder
from wc_core.reading.meaning.vectorfile import (
    HASH_BYTES,
    RowKey,
    entry_key,
    text_hash,
    text_of,
    topic_hash,
)
from wc_core.reading.views.entries import numbered

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from typing import TypeAlias

    from wc_core.base.modelserver.endpoint import Patience
    from wc_core.ledger.threads.reader import StoreReader
    from wc_core.reading.meaning.embedding import Embedder
    from wc_core.reading.meaning.models import Model
    from wc_core.reading.meaning.scoring import Vectors

    # Called with the number of entries done, and of all.
    Progress: TypeAlias = Callable[[int, int], None]

_PATIENCE_SECONDS = 1.0
# A server that refuses so many entries in a row is not asked about others.
_MOST_REFUSED = 3


class EntryText(NamedTuple):
    """An entry's key in a row, and its text."""

    topic: str
    id: str
    key: RowKey
    text: str


def _ignore_progress(_done: int, _total: int) -> None:
    pass


def enrichment(
    reader: StoreReader,
    model: Model,
    env: Mapping[str, str],
    report: Progress = _ignore_progress,
    patience: Patience = USUAL,
) -> Enrichment:
    """Return the `Enrichment` of a store with a model."""
    return Enrichment(reader, model, lambda: embedder(model, env, patience), report)


class Enrichment:
    """Makes the vectors of one store. ``make_embedder`` is called before the first one.

    ``waiting`` counts the entries that had no vector, ``done`` those that have one now.
    ``refused`` has the entries that the model did not accept, each with its error.
    """

    def __init__(
        self,
        reader: StoreReader,
        model: Model,
        make_embedder: Callable[[], Embedder],
        report: Progress = _ignore_progress,
    ) -> None:
        self._reader = reader
        self._model = model
        self._make_embedder = make_embedder
        self._embedder: Embedder | None = None
        self._report = report
        self.waiting = self.done = 0
        self.refused: list[tuple[EntryText, EndpointError]] = []
        self._refused_in_a_row = 0

    def plan(
        self, topics: Sequence[str] = (), limit: int = 0, *, again: bool = False
    ) -> Sequence[EntryText]:
        """Return the entries whose vectors `run` would make."""
        writer = VectorWriter(self._reader.layout, self._model, changes=False)
        scan = _StoreScan(self._reader, writer, again=again)
        return self._limited(scan.missing(topics or self._reader.topics()), limit)

    def run(
        self, topics: Sequence[str] = (), limit: int = 0, *, again: bool = False
    ) -> None:
        """Make the missing vectors of some threads (none: of all), or all vectors
        ``again``, for at most ``limit`` entries (0: any number).

        Vectors made before an error stay. Raises WcError, LockTimeoutError if another
        process is doing it.
        """
        layout = self._reader.layout
        lock = layout.vectors_lock
        with locks.locked(lock, "wc enrich", _PATIENCE_SECONDS, layout.root):
            writer = VectorWriter(layout, self._model)
            if again and not topics:
                writer.renew()
            scan = _StoreScan(self._reader, writer, again=again)
            missing = scan.missing(topics or self._reader.topics())
            chosen = self._limited(missing, limit)
            self._add(writer, chosen)
            refused = [entry for entry, _ in self.refused]
            for entry in (*missing[len(chosen) :], *refused):
                scan.covered.pop(entry.topic, None)
            if topics:
                writer.note(scan.covered)
            else:
                writer.finish(scan.covered, scan)

    def _limited(self, missing: list[EntryText], limit: int) -> list[EntryText]:
        self.waiting = len(missing)
        return missing[: limit or None]

    def follow(self, topics: Iterable[str]) -> None:
        """Make the missing vectors of some threads, in a store that already has
        vectors, unless another process is doing it. Raises WcError."""
        layout = self._reader.layout
        handle = locks.try_acquire(layout.vectors_lock, layout.root)
        if handle is None:
            return
        try:
            writer = VectorWriter(layout, self._model)
            if writer.kept:
                scan = _StoreScan(self._reader, writer)
                self._add(writer, scan.missing(topics))
                writer.note(scan.covered)
        finally:
            os.close(handle)

    def _add(self, writer: VectorWriter, entries: Sequence[EntryText]) -> None:
        """Make the vectors of entries, and store each batch."""
        if not entries:
            return
        at_once = self._ready.at_once
        for start in range(0, len(entries), at_once):
            for batch, vectors in self._made(entries[start : start + at_once]):
                writer.add([entry.key for entry in batch], vectors)
                self.done += len(batch)
                self._report(self.done, self.waiting)

    def _made(
        self, batch: Sequence[EntryText]
    ) -> Iterator[tuple[Sequence[EntryText], Vectors]]:
        """Yields entries with their vectors: all at once, or in parts without those
        that the model refuses. Raises WcError if it refuses several in a row."""
        try:
            vectors = self._ready.vectors([entry.text for entry in batch])
        except EndpointError as error:
            if not error.concerns_request:
                raise
            if len(batch) > 1:
                middle = len(batch) // 2
                yield from self._made(batch[:middle])
                yield from self._made(batch[middle:])
                return
            self._refused_in_a_row += 1
            if self._refused_in_a_row == _MOST_REFUSED:
                raise
            self.refused.append((batch[0], error))
        else:
            self._refused_in_a_row = 0
            yield batch, vectors

    @property
    def _ready(self) -> Embedder:
        if self._embedder is None:
            self._embedder = self._make_embedder()
        return self._embedder


class _StoreScan:
    """The entries in the threads of a store, as a container of their keys.

    ``covered`` has the key of the log of each thread that has all its vectors once the
    missing ones are made.
    """

    def __init__(
        self, reader: StoreReader, writer: VectorWriter, *, again: bool = False
    ) -> None:
        self._reader = reader
        self._known = {} if again else writer.kept
        self._before = {} if again else writer.covered
        self._unchanged: set[bytes] = set()
        self._entries: set[bytes] = set()
        self.covered: dict[str, str] = {}

    def __contains__(self, entry: object) -> bool:
        """Return whether this is the key of an existing entry."""
        return entry in self._entries or (
            isinstance(entry, bytes) and entry[:HASH_BYTES] in self._unchanged
        )

    def missing(self, topics: Iterable[str]) -> list[EntryText]:
        """Return the entries of threads that have no vector for their text."""
        now_ns = time.time_ns()
        missing: list[EntryText] = []
        for topic, key in keys.thread_keys(self._reader.layout, [*topics]).items():
            log = keys.log_part(key)
            if log and self._before.get(topic) == log:
                self._unchanged.add(topic_hash(topic))
                self.covered[topic] = log
                continue
            try:
                missing += self._in_thread(topic)
            except WcError:
                continue  # wc doctor reports why it cannot be read
            if log and keys.is_settled(log, now_ns):
                self.covered[topic] = log
        return missing

    def _in_thread(self, topic: str) -> Iterable[EntryText]:
        for item in numbered(self._reader.thread(topic)):
            text = "" if item.retracted else text_of(item.entry)
            if not text:
                continue
            key = RowKey(entry_key(topic, item.entry.id), text_hash(text))
            self._entries.add(key.entry)
            if self._known.get(key.entry) != key.text:
                yield EntryText(topic, item.entry.id, key, text)
