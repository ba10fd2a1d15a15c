"""Compares a graph with a store, value by value, and lists the differences."""

from __future__ import annotations

from collections import Counter

from wc_cli.bridges.graphdb.vectors import known_vector_property
from wc_core.base.errors import WcError
from wc_core.base.phrases import counted
from wc_core.base.values import NamedTuple
from wc_core.reading.graphdb.nodes import digest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from wc_cli.bridges.graphdb.connection import GraphConnection
    from wc_cli.bridges.graphdb.projecting import Source
    from wc_core.reading.graphdb.nodes import EntryNode, ThreadNode

# The properties of a thread and of an entry that only the graph has.
_BOOKKEEPING = ("digest", "version")
_AT_ONCE = 50

_THREADS = """
    UNWIND $rows AS key MATCH (t:Thread {key: key}) WHERE t.digest IS NOT NULL
    OPTIONAL MATCH (p:Person)-[:HOLDS]->(t)
    WITH t, collect(p.name) AS holders
    OPTIONAL MATCH (t)-[l:LINKS]->(o:Thread)
    WITH t, holders, collect([l.kind, o.topic]) AS links
    OPTIONAL MATCH (t)-[q:ASKS]->(a:Person)
    WITH t, holders, links, collect([a.name, q.by, q.id, q.title]) AS asked
    OPTIONAL MATCH (t)-[:IN]->(r:Repository)
    RETURN t.key, properties(t), holders, links, asked, collect(r.id)
"""
_ENTRIES = """
    UNWIND $rows AS key MATCH (:Thread {key: key})-[:HAS]->(e:Entry)
    OPTIONAL MATCH (p:Person)-[:WROTE]->(e) WITH key, e, collect(p.name) AS authors
    OPTIONAL MATCH (e)-[:MENTIONS]->(f:File)
    WITH key, e, authors, collect(f.path) AS files
    OPTIONAL MATCH (e)-[:ANSWERS]->(q:Entry)
    WITH key, e, authors, files, collect(q.id) AS answers
    OPTIONAL MATCH (e)-[:MEANS]->(v:Vector)
    RETURN key, e.key, properties(e), authors, files, answers, e:Decision,
    collect(v.digest)
"""


class Difference(NamedTuple):
    """A difference between the graph and the store, about one thread."""

    topic: str
    problem: str


def differences(graph: GraphConnection, source: Source) -> Iterator[Difference]:
    """Yield the differences, by topic. A thread that cannot be read is one."""
    repository = source.repository.id
    topics = source.reader.topics()
    rows = graph.read(
        "MATCH (t:Thread {repository: $id}) WHERE t.digest IS NOT NULL RETURN t.topic",
        id=repository,
    )
    for (topic,) in sorted(rows):
        if topic not in topics:
            yield Difference(topic, "is in the graph, but not in the store")
    strays = graph.read(
        "MATCH (e:Entry {repository: $id}) WHERE NOT (:Thread)-[:HAS]->(e) "
        "RETURN coalesce(e.topic, '?'), count(e)",
        id=repository,
    )
    for topic, number in strays:
        entries = counted(number, "entry", "entries")
        yield Difference(topic, f"{entries} without a thread in the graph")
    for start in range(0, len(topics), _AT_ONCE):
        nodes = []
        for topic in topics[start : start + _AT_ONCE]:
            try:
                nodes.append(source.node(topic))
            except WcError as error:
                yield Difference(topic, f"cannot be read: {error.message}")
        yield from _compared(graph, source, nodes)


def _compared(
    graph: GraphConnection, source: Source, nodes: Sequence[ThreadNode]
) -> Iterator[Difference]:
    vectors = source.vectors
    name = known_vector_property(graph, vectors) if vectors else ""
    keys = [node.key for node in nodes]
    threads = {row[0]: row[1:] for row in graph.read(_THREADS, rows=keys)}
    entries: dict[str, Sequence[Any]] = {}
    owned: dict[str, set[str]] = {}
    for thread, key, *values in graph.read(_ENTRIES, rows=keys):
        entries[key] = values
        owned.setdefault(thread, set()).add(key)
    for node in nodes:
        if node.key not in threads:
            yield Difference(node.topic, "is not in the graph")
            continue
        problems = _thread_problems(node, source.repository.id, threads[node.key])
        problems += _entry_problems(node, entries, owned.get(node.key, set()), name)
        if problems:
            yield Difference(node.topic, "; ".join(problems))


def _thread_problems(
    node: ThreadNode, repository: str, stored: Sequence[Any]
) -> list[str]:
    properties, holders, links, questions, repositories = stored
    names = _differing(node.properties, properties)
    expected = {
        "holder": ([node.holder] if node.holder else [], holders),
        "links": (_sorted(node.links), _sorted(links)),
        "questions": (_sorted(node.questions), _sorted(questions)),
        "repository": ([repository], repositories),
    }
    names += [name for name, values in expected.items() if values[0] != values[1]]
    return [f"other {', '.join(names)}"] if names else []


def _entry_problems(
    node: ThreadNode, stored: Mapping[str, Sequence[Any]], keys: set[str], name: str
) -> list[str]:
    own = {entry.key for entry in node.entries}
    counts: Counter[str] = Counter()
    for entry in node.entries:
        if entry.key in keys:
            counts[", ".join(_entry_differences(entry, stored[entry.key], name))] += 1
    counts.pop("", None)
    problems = [
        f"{counted(number, 'entry', 'entries')} with other {names}"
        for names, number in counts.items()
    ]
    if missing := own - keys:
        problems.append(f"{counted(len(missing), 'entry', 'entries')} missing")
    if surplus := keys - own:
        problems.append(f"{counted(len(surplus), 'entry', 'entries')} too many")
    return problems


def _entry_differences(entry: EntryNode, stored: Sequence[Any], name: str) -> list[str]:
    """The names of the parts that differ; vectors count only if ``name`` is their
    property."""
    properties, authors, files, answers, is_decision, vectors = stored
    names = _differing(entry.properties, properties)
    expected = {
        "author": ([entry.author], authors),
        "files": (list(entry.files), sorted(files)),
        "decision": (entry.properties.get("kind") == "decision", is_decision),
    }
    if name:
        own = [digest([name, *entry.vector])] if entry.vector else []
        expected["vector"] = (own, vectors)
    if answers:
        expected["question"] = ([entry.answers], answers)
    return names + [name for name, values in expected.items() if values[0] != values[1]]


def _differing(own: Mapping[str, Any], stored: Mapping[str, Any]) -> list[str]:
    """The names of properties that differ."""
    names = {*own, *stored} - {*_BOOKKEEPING}
    return sorted(name for name in names if own.get(name) != stored.get(name))


def _sorted(rows: Sequence[Sequence[Any]]) -> list[list[Any]]:
    """The rows in order, without the empty ones that OPTIONAL MATCH returns."""
    return sorted(list(row) for row in rows if any(row))
