"""The vectors of entries: which property of the graph has those of a model."""

from __future__ import annotations

from wc_core.graphdb import schema

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Protocol

    from wc_cli.graphdb.connection import GraphConnection

    class Vectors(Protocol):
        """The vectors of a store's entries, made by one model."""

        model: str
        dimensions: int

        def version(self, topic: str) -> str:
            """Returns a text that differs if the vectors of a thread changed."""

        def of(self, topic: str) -> Mapping[str, Sequence[float]]:
            """Returns the vectors of a thread's entries, by their ids."""


def vector_property(graph: GraphConnection, vectors: Vectors) -> str:
    """Returns the property with the vectors of a model. Makes its index, the first
    time."""
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


def renew_index(graph: GraphConnection, vectors: Vectors) -> None:
    """Makes the index of a model's vectors again. FalkorDB 4.16 leaves those that were
    deleted in it, where they take the places of others."""
    name = schema.model_name(vectors.model, vectors.dimensions)
    for (position,) in graph.read(
        "MATCH (m:Model {name: $name}) RETURN m.position", name=name
    ):
        graph.query(schema.vector_index_removal(position))
        graph.ensure_index(schema.vector_index_statement(position, vectors.dimensions))


def known_vector_property(graph: GraphConnection, vectors: Vectors) -> str:
    """Returns the property with the vectors of a model, also if there are none yet."""
    name = schema.model_name(vectors.model, vectors.dimensions)
    rows = graph.read("MATCH (m:Model {name: $name}) RETURN m.position", name=name)
    return schema.vector_property(rows[0][0] if rows else -1)
