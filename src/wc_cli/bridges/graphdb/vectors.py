"""The vectors of entries: those that `wc enrich` made, and the property in the graph
that has a model's vectors."""

from __future__ import annotations

from array import array
from binascii import crc32

from wc_core.reading.graphdb import schema
from wc_core.reading.meaning import vectorfile
from wc_core.reading.meaning.vectorfile import HASH_BYTES, PREFIX, UnusableVectorsError
from wc_core.reading.views.entries import numbered

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wc_cli.bridges.graphdb.connection import GraphConnection
    from wc_core.base.layout import Layout
    from wc_core.ledger.threads.reader import Thread

_SCALE = 3
_DIGITS = 6


class KeptVectors:
    """The vectors in the file of a store. Raises UnusableVectorsError if it has none,
    and OSError."""

    def __init__(self, layout: Layout) -> None:
        header = vectorfile.read_header(layout)
        self.model, self.dimensions = header
        # If an entry has two rows, the later one counts.
        self._rows: dict[bytes, bytes] = {}
        self._versions: dict[bytes, int] = {}
        for row in vectorfile.read_rows(layout, header):
            key = vectorfile.parse_row(row)
            if key is not None:
                topic = key.entry[:HASH_BYTES]
                self._rows[key.entry] = row
                self._versions[topic] = crc32(row, self._versions.get(topic, 0))

    def version(self, topic: str) -> str:
        """Return a text that changes with the vectors of a thread."""
        number = self._versions.get(vectorfile.topic_hash(topic), 0)
        return f"{self.model} {self.dimensions} {number}"

    def of(self, thread: Thread) -> dict[str, list[float]]:
        """Return the vectors of the entries whose text has not changed since, by entry
        id."""
        vectors = {}
        for item in numbered(thread):
            entry = item.entry
            row = self._rows.get(
                vectorfile.entry_key(thread.snapshot.topic, entry.id), b""
            )
            key = vectorfile.parse_row(row) if row else None
            text = vectorfile.text_of(entry)
            if key is not None and key.text == vectorfile.text_hash(text):
                scale = PREFIX.unpack_from(row)[_SCALE]
                numbers = array("b", row[PREFIX.size :])
                vectors[entry.id] = [round(n * scale, _DIGITS) for n in numbers]
        return vectors


def kept_vectors(layout: Layout) -> KeptVectors | None:
    """Return the vectors of a store; ``None`` if it has no usable ones."""
    try:
        return KeptVectors(layout)
    except (UnusableVectorsError, OSError):
        return None


def vector_property(graph: GraphConnection, vectors: KeptVectors) -> str:
    """Return the property with the vectors of a model. The first time, create its
    index."""
    rows = graph.query(
        "OPTIONAL MATCH (o:Model) WITH count(o) AS others "
        "MERGE (m:Model {name: $name}) "
        "ON CREATE SET m.position = others, m.dimensions = $dimensions "
        "RETURN m.position",
        name=schema.model_name(vectors.model, vectors.dimensions),
        dimensions=vectors.dimensions,
    )
    position: int = rows[0][0]
    graph.ensure_index(schema.vector_index_statement(position, vectors.dimensions))
    return schema.vector_property(position)


def renew_index(graph: GraphConnection, vectors: KeptVectors) -> None:
    """Rebuild the index of a model's vectors. FalkorDB 4.16 keeps deleted vectors in
    it, where they take the places of others."""
    if (position := _position(graph, vectors)) >= 0:
        graph.query(schema.vector_index_removal(position))
        graph.ensure_index(schema.vector_index_statement(position, vectors.dimensions))


def known_vector_property(graph: GraphConnection, vectors: KeptVectors) -> str:
    """Return the property for a model's vectors, even if there are none yet."""
    return schema.vector_property(_position(graph, vectors))


def _position(graph: GraphConnection, vectors: KeptVectors) -> int:
    """The position of a model in the graph; -1 if it is not there."""
    name = schema.model_name(vectors.model, vectors.dimensions)
    rows = graph.read("MATCH (m:Model {name: $name}) RETURN m.position", name=name)
    return rows[0][0] if rows else -1
