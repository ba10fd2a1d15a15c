"""The statements that change a graph, a few thousand rows at a time.

An entry's digest is written after its edges, a thread's after its entries: whatever has
a digest is complete.
"""

from __future__ import annotations

from wc_core.base.values import NamedTuple
from wc_core.ledger.threads.model import DECISION
from wc_core.reading.graphdb.nodes import digest, node_key

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    from wc_cli.bridges.graphdb.connection import GraphConnection
    from wc_core.reading.graphdb.nodes import EntryNode, ThreadNode

# The rows per statement, and the entries that are collected before writing.
BATCH = 2000

_ENTRIES = """
    UNWIND $rows AS row
    MERGE (e:Entry {key: row.key}) SET e = row.properties
    WITH e, row MATCH (t:Thread {key: row.thread}) MERGE (t)-[:HAS]->(e)
    WITH e, row MATCH (p:Person {name: row.author}) MERGE (p)-[:WROTE]->(e)
"""
_FILES = """
    UNWIND $rows AS row
    MATCH (e:Entry {key: row.key})
    MERGE (f:File {key: row.file})
    ON CREATE SET f.repository = row.repository, f.path = row.path
    MERGE (e)-[:MENTIONS]->(f)
"""
_ANSWERS = """
    UNWIND $rows AS row
    MATCH (e:Entry {key: row.key}), (q:Entry {key: row.question})
    MERGE (e)-[:ANSWERS]->(q)
"""
_ENTRY_DIGESTS = """
    UNWIND $rows AS row MATCH (e:Entry {key: row.key}) SET e.digest = row.digest
"""
_OLD_ENTRY_EDGES = """
    UNWIND $rows AS key MATCH (e:Entry {key: key}) REMOVE e:Decision
    WITH e MATCH (e)-[r:WROTE|MENTIONS|ANSWERS]-() DELETE r
"""
_THREADS = """
    UNWIND $rows AS row
    MERGE (t:Thread {key: row.key}) SET t = row.properties, t.digest = ''
    WITH t, row MATCH (r:Repository {id: row.properties.repository})
    MERGE (t)-[:IN]->(r)
"""
_OLD_THREAD_EDGES = """
    UNWIND $rows AS key
    MATCH (t:Thread {key: key})-[r:LINKS|ASKS]->() DELETE r
"""
_OLD_HOLDERS = """
    UNWIND $rows AS key
    MATCH (:Person)-[r:HOLDS]->(:Thread {key: key}) DELETE r
"""
_HOLDERS = """
    UNWIND $rows AS row MATCH (t:Thread {key: row.key})
    MERGE (p:Person {name: row.name}) MERGE (p)-[:HOLDS]->(t)
"""
_LINKS = """
    UNWIND $rows AS row MATCH (t:Thread {key: row.key})
    MERGE (o:Thread {key: row.other})
    ON CREATE SET o.repository = row.repository, o.topic = row.topic
    MERGE (t)-[:LINKS {kind: row.kind}]->(o)
"""
_ASKED = """
    UNWIND $rows AS row MATCH (t:Thread {key: row.key})
    MERGE (p:Person {name: row.name})
    MERGE (t)-[q:ASKS {id: row.id}]->(p) SET q.by = row.by, q.title = row.title
"""
_THREAD_DIGESTS = """
    UNWIND $rows AS row MATCH (t:Thread {key: row.key})
    SET t.version = row.version, t.digest = row.digest
"""
_REMOVED_ENTRIES = "UNWIND $rows AS key MATCH (e:Entry {key: key}) DELETE e"
_REMOVED_VECTORS = "UNWIND $rows AS key MATCH (v:Vector {key: key}) DELETE v"
# When any property of a node changes, FalkorDB 4.16 leaves its former vector in the
# index. So each vector has its own node, which is only replaced with its text. It may
# exist already if another process projects at the same time.
_VECTORS = """
    UNWIND $rows AS row MATCH (e:Entry {{key: row.key}})
    MERGE (v:Vector {{key: row.key}})
    ON CREATE SET v.repository = row.repository, v.digest = row.digest,
    v.{name} = vecf32(row.vector)
    MERGE (e)-[:MEANS]->(v)
"""
_ENTRIES_OF = """
    UNWIND $rows AS key MATCH (:Thread {key: key})-[:HAS]->(e:Entry)
    OPTIONAL MATCH (e)-[:MEANS]->(v:Vector)
    RETURN e.key, e.digest, v.digest
"""
# A thread to which others link stays, with only its name.
_EMPTIED_THREADS = """
    UNWIND $rows AS key MATCH (t:Thread {key: key})
    SET t = {key: key, repository: t.repository, topic: t.topic}
    WITH t MATCH (t)-[r:IN]->() DELETE r
"""
# Removes the people about whom nothing is left.
IDLE_PEOPLE = """
    MATCH (p:Person) WHERE NOT (p)-[:WROTE|HOLDS]->() AND NOT ()-[:ASKS]->(p) DELETE p
"""
_TIDYING = (
    "MATCH (e:Entry {repository: $id}) WHERE NOT (:Thread)-[:HAS]->(e) DELETE e",
    "MATCH (v:Vector {repository: $id}) WHERE NOT (:Entry)-[:MEANS]->(v) DELETE v",
    (
        "MATCH (t:Thread {repository: $id}) WHERE t.digest IS NULL "
        "AND NOT (:Thread)-[:LINKS]->(t) DELETE t"
    ),
    "MATCH (f:File {repository: $id}) WHERE NOT (:Entry)-[:MENTIONS]->(f) DELETE f",
    IDLE_PEOPLE,
)


class Pending(NamedTuple):
    """A thread to write, the version of its files, and the graph's version and digest
    of it, empty if it has none."""

    node: ThreadNode
    version: str
    known_version: str
    known_digest: str


class GraphWriter:
    """Writes the threads of one repository. ``vector`` is the property of their
    vectors. With ``full`` all entries are written, not only those that differ.
    ``written`` and ``removed`` count entries."""

    def __init__(
        self, graph: GraphConnection, repository: str, vector: str, *, full: bool
    ) -> None:
        self._graph = graph
        self._repository = repository
        self._vector = vector
        self._full = full
        self._untidy = full
        self.written = 0
        self.removed = 0

    def write(self, pending: Sequence[Pending]) -> None:
        """Write threads, and those of their entries that differ."""
        self._write_entries([item.node for item in pending])
        changed = [
            item.node
            for item in pending
            if self._full or item.known_digest != item.node.digest
        ]
        self._write_threads(changed)
        self._each(
            _THREAD_DIGESTS,
            [
                {
                    "key": item.node.key,
                    "version": item.version,
                    "digest": item.node.digest,
                }
                for item in pending
                if (item.known_version, item.known_digest)
                != (item.version, item.node.digest)
            ],
        )

    def remove_threads(self, topics: Iterable[str]) -> None:
        """Remove threads with their entries."""
        threads = [node_key(self._repository, topic) for topic in topics]
        self._remove_entries(list(self._stored_entries(threads)))
        self._remove_edges(threads)
        self._each(_EMPTIED_THREADS, threads)
        self._untidy = self._untidy or bool(threads)

    def tidy(self) -> None:
        """Remove whatever nothing refers to: files, people, and threads that were only
        mentioned."""
        if self._untidy:
            for statement in _TIDYING:
                self._graph.query(statement, id=self._repository)

    def _each(self, statement: str, rows: Sequence[Any]) -> None:
        for start in range(0, len(rows), BATCH):
            self._graph.query(statement, rows=rows[start : start + BATCH])

    def _stored_entries(self, threads: Sequence[str]) -> dict[str, tuple[str, str]]:
        """The digests of these threads' entries in the graph, and of their vectors, by
        entry key."""
        return {
            key: (digest or "", vector or "")
            for start in range(0, len(threads), BATCH)
            for key, digest, vector in self._graph.read(
                _ENTRIES_OF, rows=threads[start : start + BATCH]
            )
        }

    def _remove_entries(self, entries: Sequence[str]) -> None:
        self._each(_REMOVED_VECTORS, entries)
        self._each(_REMOVED_ENTRIES, entries)
        self.removed += len(entries)
        self._untidy = self._untidy or bool(entries)

    def _write_entries(self, threads: Sequence[ThreadNode]) -> None:
        stored = self._stored_entries([node.key for node in threads])
        owners = {entry.key: node for node in threads for entry in node.entries}
        self._remove_entries([key for key in stored if key not in owners])
        digests = {
            entry.key: entry.digest for node in threads for entry in node.entries
        }
        changed = [
            entry
            for node in threads
            for entry in node.entries
            if self._full or stored.get(entry.key, ("",))[0] != digests[entry.key]
        ]
        replaced = [entry.key for entry in changed if entry.key in stored]
        self._each(_OLD_ENTRY_EDGES, replaced)
        self._untidy = self._untidy or bool(replaced)
        self._each(
            "UNWIND $rows AS key MERGE (:Thread {key: key})",
            list(dict.fromkeys(owners[entry.key].key for entry in changed)),
        )
        people = list(dict.fromkeys(entry.author for entry in changed))
        self._each("UNWIND $rows AS name MERGE (:Person {name: name})", people)
        rows = [
            {
                "key": entry.key,
                "thread": owners[entry.key].key,
                "author": entry.author,
                "properties": entry.properties,
            }
            for entry in changed
        ]
        self._each(_ENTRIES, rows)
        self._write_vectors(threads, changed, stored)
        self._write_entry_edges(changed, owners)
        self._each(
            _ENTRY_DIGESTS,
            [{"key": entry.key, "digest": digests[entry.key]} for entry in changed],
        )
        self.written += len(changed)

    def _write_vectors(
        self,
        threads: Sequence[ThreadNode],
        changed: Sequence[EntryNode],
        stored: Mapping[str, tuple[str, str]],
    ) -> None:
        """Write the vectors that differ. If there are no vectors here, those of
        unchanged entries stay."""
        texts = {entry.key for entry in changed}
        stale, rows = [], []
        for entry in (entry for node in threads for entry in node.entries):
            before = stored.get(entry.key, ("", ""))[1]
            own = digest([self._vector, *entry.vector]) if entry.vector else ""
            if own == before and not self._full:
                continue
            if before and (own or entry.key in texts):
                stale.append(entry.key)
            if own:
                rows.append(
                    {
                        "key": entry.key,
                        "repository": self._repository,
                        "digest": own,
                        "vector": entry.vector,
                    }
                )
        self._each(_REMOVED_VECTORS, stale)
        self._each(_VECTORS.format(name=self._vector), rows)

    def _write_entry_edges(
        self, entries: Sequence[EntryNode], owners: Mapping[str, ThreadNode]
    ) -> None:
        self._each(
            _FILES,
            [
                {
                    "key": entry.key,
                    "file": node_key(self._repository, path),
                    "path": path,
                    "repository": self._repository,
                }
                for entry in entries
                for path in entry.files
            ],
        )
        self._each(
            _ANSWERS,
            [
                {
                    "key": entry.key,
                    "question": node_key(owners[entry.key].key, entry.answers),
                }
                for entry in entries
                if entry.answers
            ],
        )
        self._each(
            "UNWIND $rows AS key MATCH (e:Entry {key: key}) SET e:Decision",
            [
                entry.key
                for entry in entries
                if entry.properties.get("kind") == DECISION
            ],
        )

    def _write_threads(self, threads: Sequence[ThreadNode]) -> None:
        self._remove_edges([node.key for node in threads])
        self._each(
            _THREADS,
            [{"key": node.key, "properties": node.properties} for node in threads],
        )
        self._each(
            _HOLDERS,
            [{"key": node.key, "name": node.holder} for node in threads if node.holder],
        )
        self._each(
            _LINKS,
            [
                {
                    "key": node.key,
                    "other": node_key(self._repository, topic),
                    "repository": self._repository,
                    "topic": topic,
                    "kind": kind,
                }
                for node in threads
                for kind, topic in node.links
            ],
        )
        self._each(
            _ASKED,
            [
                {
                    "key": node.key,
                    "name": item.addressee,
                    "by": item.asker,
                    "id": item.id,
                    "title": item.title,
                }
                for node in threads
                for item in node.questions
            ],
        )

    def _remove_edges(self, threads: Sequence[str]) -> None:
        self._each(_OLD_THREAD_EDGES, threads)
        self._each(_OLD_HOLDERS, threads)
