"""Brings a graph up to date with a store.

Only threads whose files changed since the last time are read, and of these only the
entries that differ are written. A thread is marked as done after all of its entries, so
the next run continues an interrupted one. Repeating a run changes nothing: every node
is looked up by its key before it is created.
"""

from __future__ import annotations

import os
import time
from concurrent.futures import ThreadPoolExecutor

from wc_cli.bridges.graphdb.vectors import renew_index, vector_property
from wc_cli.bridges.graphdb.writing import BATCH, IDLE_PEOPLE, GraphWriter, Pending
from wc_core.base.errors import ConflictError, NotFoundError, WcError
from wc_core.base.names import near_names
from wc_core.base.values import NamedTuple
from wc_core.ledger.index import keys
from wc_core.ledger.summaries.kept import read_kept
from wc_core.reading.graphdb import schema
from wc_core.reading.graphdb.nodes import thread_node

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from concurrent.futures import Future

    from wc_cli.bridges.graphdb.connection import GraphConnection
    from wc_cli.bridges.graphdb.vectors import KeptVectors
    from wc_core.ledger.threads.reader import StoreReader
    from wc_core.reading.graphdb.identity import GraphRepository
    from wc_core.reading.graphdb.nodes import ThreadNode

_POLL_SECONDS = 0.02
_FIRST_EDGES = (
    """MATCH (e:Entry {repository: $id}) WITH e LIMIT 1
    MATCH (e)<-[:HAS]-(t:Thread)-[:IN]->(r:Repository) RETURN r.id""",
    """MATCH (v:Vector {repository: $id}) WITH v LIMIT 1
    MATCH (v)<-[:MEANS]-(e:Entry) RETURN e.key""",
    """MATCH (f:File {repository: $id}) WITH f LIMIT 1
    MATCH (f)<-[:MENTIONS]-(e:Entry) RETURN e.key LIMIT 1""",
)
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


class Source(NamedTuple):
    """A store, its repository in the graph, and the vectors of its entries, if any."""

    reader: StoreReader
    repository: GraphRepository
    vectors: KeptVectors | None = None

    def node(self, topic: str) -> ThreadNode:
        """Return a thread as the graph has it. Raises WcError."""
        thread = self.reader.thread(topic)
        vectors = self.vectors.of(thread) if self.vectors else {}
        kept = read_kept(self.reader.layout, topic)
        return thread_node(self.repository.id, thread, vectors, kept)


class Projected(NamedTuple):
    """The result of a run: the number of threads in the repository, the entries
    written, and the threads and entries removed. ``unreadable`` threads stay as they
    were."""

    threads: int = 0
    written: int = 0
    removed_threads: int = 0
    removed_entries: int = 0
    unreadable: tuple[str, ...] = ()


def check_version(graph: GraphConnection) -> None:
    """Raise ConflictError for a graph that another version of wc made."""
    versions = graph.read(schema.VERSION_QUERY)
    if versions and versions[0][0] != schema.VERSION:
        raise ConflictError(
            f"{graph.address.label} has version {versions[0][0]} of the schema, not "
            f"{schema.VERSION}.",
            "Project into a graph with another name, or delete this one.",
        )


def prepare(graph: GraphConnection) -> None:
    """Create the graph's indexes. Raises ConflictError for a graph that another version
    of wc made."""
    check_version(graph)
    for statement in schema.index_statements():
        graph.ensure_index(statement)
    graph.query("MERGE (s:Schema) SET s.version = $version", version=schema.VERSION)


def claim(
    graph: GraphConnection, repository: GraphRepository, *, take_over: bool
) -> None:
    """Create the repository's node. Raises ConflictError if it is projected from
    another store, because the two would undo each other's changes."""
    source = graph.query(
        "MERGE (r:Repository {id: $id}) ON CREATE SET r.source = $source "
        "SET r.name = $name RETURN r.source",
        id=repository.id,
        source=repository.source,
        name=repository.name,
    )[0][0]
    if source == repository.source:
        return
    if not take_over:
        raise ConflictError(
            f"{repository.id} is projected from {source}.",
            "Project it there; or from here from now on: wc project … --take-over",
        )
    graph.query(
        "MATCH (r:Repository {id: $id}) SET r.source = $source",
        id=repository.id,
        source=repository.source,
    )


class Projection:
    """Brings the graph up to date with one store. With ``full``, all of it is written
    again, not only what changed."""

    def __init__(
        self, graph: GraphConnection, source: Source, *, full: bool = False
    ) -> None:
        self._graph = graph
        self._source = source
        self._reader, self._repository, self._vectors = source
        self._full = full
        self._unreadable: list[str] = []

    def run(self) -> Projected:
        """Update the graph. Returns what was done."""
        vectors = self._vectors
        name = vector_property(self._graph, vectors) if vectors else ""
        writer = GraphWriter(self._graph, self._repository.id, name, full=self._full)
        topics = self._reader.topics()
        stored = self._stored()
        self._write(writer, self._changed(topics, stored))
        removed = sorted(stored.keys() - set(topics))
        writer.remove_threads(removed)
        writer.tidy()
        if vectors is not None and self._full:
            renew_index(self._graph, vectors)
        await_indexes(self._graph)
        if writer.written:
            _follow_edges(self._graph, self._repository.id)
        self._graph.query(
            "MATCH (r:Repository {id: $id}) SET r.projected_at = $now",
            id=self._repository.id,
            now=int(time.time()),
        )
        return Projected(
            len(topics),
            writer.written,
            len(removed),
            writer.removed,
            tuple(self._unreadable),
        )

    @staticmethod
    def _write(writer: GraphWriter, changed: Iterable[Pending]) -> None:
        """Write threads in batches. While the graph stores one batch, the next is read:
        each takes half of the time."""
        with ThreadPoolExecutor(1) as pool:
            previous: Future[None] | None = None
            for batch in _batches(changed):
                if previous is not None:
                    previous.result()
                previous = pool.submit(writer.write, batch)
            if previous is not None:
                previous.result()

    def _stored(self) -> dict[str, tuple[str, str]]:
        """The version and the digest of each thread in the graph, by its topic."""
        rows = self._graph.read(
            "MATCH (t:Thread {repository: $id}) WHERE t.digest IS NOT NULL "
            "RETURN t.topic, t.version, t.digest",
            id=self._repository.id,
        )
        return {topic: (version, digest) for topic, version, digest in rows}

    def _changed(
        self, topics: Sequence[str], stored: Mapping[str, tuple[str, str]]
    ) -> Iterator[Pending]:
        """The threads whose files have changed since the graph was made from them."""
        files = keys.thread_keys(self._reader.layout, topics)
        for topic in topics:
            version = self._version(topic, files.get(topic, ""))
            stored_version, digest = stored.get(topic, ("", ""))
            if version and stored_version == version and not self._full:
                continue
            try:
                node = self._source.node(topic)
            except WcError:
                self._unreadable.append(topic)
                continue
            yield Pending(node, version, stored_version, digest)

    def _version(self, topic: str, key: str) -> str:
        """A version of a thread's files; empty if they may change without a trace."""
        if not key or not keys.is_settled(key, time.time_ns()):
            return ""
        key += _summaries_version(self._reader.layout.summaries(topic))
        return f"{key};{self._vectors.version(topic)}" if self._vectors else key


def _batches(threads: Iterable[Pending]) -> Iterator[list[Pending]]:
    """Yield the threads in groups with about `BATCH` entries."""
    batch: list[Pending] = []
    size = 0
    for item in threads:
        batch.append(item)
        size += len(item.node.entries)
        if size >= BATCH:
            yield batch
            batch, size = [], 0
    yield batch


def _summaries_version(path: str) -> str:
    """A text that changes with the file of models' summaries. Writers append to it or
    replace it, so its size or its inode changes."""
    try:
        status = os.stat(path)
    except OSError:
        return ""
    return f";{status.st_ino}.{status.st_size}.{status.st_mtime_ns}"


def await_indexes(graph: GraphConnection) -> None:
    """Wait until indexes contain what was written: the server fills a new index while
    it answers other requests."""
    status = (
        "CALL db.indexes() YIELD status WHERE status <> 'OPERATIONAL' RETURN status"
    )
    while graph.read(status):
        time.sleep(_POLL_SECONDS)


def _follow_edges(graph: GraphConnection, repository: str) -> None:
    """Follow an edge of each kind that searches follow. FalkorDB puts what was written
    in order when that happens for the first time. Otherwise the first reader would wait
    for it, 0.1 to 0.3 s after 500,000 entries."""
    for statement in _FIRST_EDGES:
        graph.read(statement, id=repository)


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
    graph.query(IDLE_PEOPLE)
    graph.query("MATCH (r:Repository {id: $id}) DELETE r", id=repository)
