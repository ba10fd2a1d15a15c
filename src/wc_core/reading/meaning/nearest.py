"""Which entries of a store are nearest in meaning to a query."""

from __future__ import annotations

from wc_core.base.errors import WcError
from wc_core.ledger.index import keys
from wc_core.lookup.nearness import Nearness
from wc_core.reading.meaning import coverage
from wc_core.reading.meaning.embedding import query_embedder
from wc_core.reading.meaning.scoring import Nearest, VectorFile, opened, unit
from wc_core.reading.meaning.vectorfile import (
    HASH_BYTES,
    RowKey,
    UnusableVectorsError,
    id_key,
    plain_id,
    text_hash,
    text_of,
    topic_hash,
)
from wc_core.reading.views.entries import numbered

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from wc_core.ledger.threads.model import Entry
    from wc_core.ledger.threads.reader import StoreReader
    from wc_core.lookup.nearness import EntryName
    from wc_core.reading.meaning.embedding import QueryAnswers
    from wc_core.reading.meaning.models import Model
    from wc_core.reading.meaning.scoring import Vectors

    Embed = Callable[[Sequence[str]], Vectors]

# The most entries that are compared by meaning.
MOST_NEAREST = 100
# A row may have a hash in place of an id, with this prefix.
_TILDE = ord("~")


def meaning_search(
    reader: StoreReader,
    model: Model,
    env: Mapping[str, str],
    answers: QueryAnswers | None = None,
) -> MeaningSearch:
    """Returns the function that finds entries while a user waits; see
    `query_embedder`."""
    return MeaningSearch(reader, model, query_embedder(model, env, answers))


class MeaningSearch:
    """Finds entries by meaning. ``embed`` returns the vectors of texts; it raises
    WcError if the model cannot be used."""

    def __init__(self, reader: StoreReader, model: Model, embed: Embed) -> None:
        self._reader = reader
        self._model = model
        self._embed = embed

    def nearest(
        self, query: str, current: Mapping[str, str], newest: str = ""
    ) -> Nearness:
        """Returns how near the entries of some threads are, of those up to the id
        ``newest`` if there is one. ``current`` has the key of each thread's files.
        Anything unknown is noted in the result, not raised. No server is used for a
        store without vectors."""
        layout, model = self._reader.layout, self._model
        try:
            with opened(layout, model.name, model.dimensions) as file:
                covered = coverage.covered_threads(layout, file.header)
                nearness = self._in_file(file, covered, (query, newest), current)
                return _older(nearness, newest)
        except UnusableVectorsError as error:
            problem = f"entries have no vectors: {error}"
            if not coverage.has_file(layout):
                problem = coverage.NO_VECTORS
        except WcError as error:
            return Nearness({}, problem=error.message)
        except ValueError:
            return Nearness({}, problem="the model knows none of the words")
        if model.is_local and coverage.are_few(current.values()):
            return _older(self._of_logs(query, current), newest)
        return Nearness({}, missing=len(current), problem=problem)

    def _vector(self, query: str) -> Vectors:
        """The vector of a query. Raises WcError, and ValueError if it has none."""
        text = query.strip()
        if not text:
            raise ValueError("a query without words")
        return unit(self._embed([text])[0])

    def _of_logs(self, query: str, current: Mapping[str, str]) -> Nearness:
        """The scores from the logs of a small store."""
        try:
            return Nearness(self._computed(self._vector(query), current))
        except (WcError, ValueError):
            return Nearness({}, problem="the model knows none of the words")

    def _in_file(
        self,
        file: VectorFile,
        covered: Mapping[str, str],
        question: tuple[str, str],
        current: Mapping[str, str],
    ) -> Nearness:
        """The scores from the file and, for a few threads that it lacks, from their
        logs."""
        query, newest = question
        vector, newest_key = self._vector(query), newest.encode()
        stale = {
            topic: key
            for topic, key in current.items()
            if key and covered.get(topic) != keys.log_part(key)
        }
        fresh: dict[EntryName, float] = {}
        missing, listed = len(stale), {*current}
        if self._model.is_local and coverage.are_few(stale.values()):
            fresh = self._computed(vector, stale)
            missing, listed = 0, {*current} - {*stale}
        topics = {topic_hash(topic): topic for topic in listed}

        def accepts(entry: bytes) -> bool:
            key = entry[HASH_BYTES:]
            is_old = not newest_key or key <= newest_key or key[0] == _TILDE
            return is_old and entry[:HASH_BYTES] in topics

        nearest = file.nearest(vector, MOST_NEAREST, accepts)
        scores, hashes = self._named(nearest, topics)

        def is_current(topic: str, entry: Entry) -> bool:
            kept = hashes.get((topic, entry.id))
            return kept is None or kept == text_hash(text_of(entry))

        return Nearness({**scores, **fresh}, nearest.floor, is_current, missing)

    def _named(
        self, nearest: Nearest, topics: Mapping[bytes, str]
    ) -> tuple[dict[EntryName, float], dict[EntryName, bytes]]:
        """The scores and the hashes of texts, by topic and id."""
        scores: dict[EntryName, float] = {}
        hashes: dict[EntryName, bytes] = {}
        for row, score in nearest.rows:
            topic = topics[row.entry[:HASH_BYTES]]
            name = topic, self._id_of(topic, row)
            if name[1]:
                scores[name], hashes[name] = score, row.text
        return scores, hashes

    def _id_of(self, topic: str, row: RowKey) -> str:
        """The id of a row's entry; empty if the entry no longer exists."""
        key = row.entry[HASH_BYTES:]
        if entry_id := plain_id(key):
            return entry_id
        return next(
            (entry.id for entry in self._entries(topic) if id_key(entry.id) == key), ""
        )

    def _entries(self, topic: str) -> list[Entry]:
        try:
            visible = numbered(self._reader.thread(topic))
        except WcError:
            return []  # a search reports which threads it cannot read
        return [item.entry for item in visible if not item.retracted]

    def _computed(
        self, vector: Vectors, topics: Iterable[str]
    ) -> dict[EntryName, float]:
        """How near the entries of threads are whose vectors are computed now. Raises
        WcError."""
        texts = {
            (topic, entry.id): text
            for topic in topics
            for entry in self._entries(topic)
            if (text := text_of(entry))
        }
        vectors = self._embed([*texts.values()])
        return dict(zip(texts, map(float, vectors @ vector), strict=True))


def _older(nearness: Nearness, newest: str) -> Nearness:
    """Leaves out what is newer than the first page of a result."""
    if not newest:
        return nearness
    scores = nearness.scores.items()
    older = {name: score for name, score in scores if name[1] <= newest}
    return nearness._replace(scores=older)
