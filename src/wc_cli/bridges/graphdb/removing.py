"""Removes a repository from a graph, with everything that belongs only to it."""

from __future__ import annotations

from wc_cli.bridges.graphdb.writing import BATCH
from wc_core.base.errors import NotFoundError
from wc_core.base.names import near_names
from wc_core.base.values import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wc_cli.bridges.graphdb.connection import GraphConnection

# A digest marks a thread or an entry as complete. All digests are removed first: if the
# removal is interrupted, the next projection writes everything again.
_INCOMPLETE = """
    MATCH (n:{} {{repository: $id}}) WHERE n.digest IS NOT NULL
    WITH n LIMIT $most SET n.version = NULL, n.digest = NULL RETURN count(n)
"""
_LABELS = ("Vector", "Entry", "File", "Thread")
_REMOVED = """
    MATCH (n:{} {{repository: $id}}) WITH n LIMIT $most DELETE n RETURN count(n)
"""
_PEOPLE = """
    MATCH (p:Person) WHERE NOT (p)-[:WROTE|HOLDS]->() AND NOT ()-[:ASKS]->(p) DELETE p
"""


class StoredRepository(NamedTuple):
    """A repository in a graph, and the numbers of its threads and entries there."""

    id: str
    name: str
    threads: int
    entries: int


def stored_repository(graph: GraphConnection, repository: str) -> StoredRepository:
    """Return the repository with an id. Raises NotFoundError."""
    names = dict(graph.read("MATCH (r:Repository) RETURN r.id, r.name"))
    if repository not in names:
        near = near_names(repository, [*names]) or sorted(names)[:5]
        raise NotFoundError(
            f"The graph has no repository with the id {repository}.",
            f"It has: {', '.join(near)}" if near else "The graph is empty.",
        )
    threads, entries = (
        graph.read(
            f"MATCH (n:{label} {{repository: $id}}) RETURN count(n)", id=repository
        )[0][0]
        for label in ("Thread", "Entry")
    )
    return StoredRepository(repository, names[repository], threads, entries)


def remove_repository(
    graph: GraphConnection, repository: str, *, most: int = BATCH
) -> None:
    """Remove a repository, at ``most`` this many nodes at a time. The next removal
    continues an interrupted one, because the repository's own node goes last."""
    statements = [_INCOMPLETE.format(label) for label in ("Thread", "Entry")]
    statements += [_REMOVED.format(label) for label in _LABELS]
    for statement in statements:
        while graph.query(statement, id=repository, most=most)[0][0]:
            pass
    graph.query(_PEOPLE)
    graph.query("MATCH (r:Repository {id: $id}) DELETE r", id=repository)
