"""Threads of all repositories that relate to a given one: they are linked with it, are
about the same files, use its words, or have a similar meaning."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wc_core.base.values import NamedTuple
from wc_core.lookup.search.ranking import PROMINENT_FIELDS, term_weights
from wc_core.reading.graphdb.schema import word_field

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from wc_observe.stores.graphdb.reader import GraphReader

_Row = tuple[Any, ...]

# The most shared words shown per thread.
_REASONS = 5
# The most nearest entries of each of its own, of which so many are compared. The index
# cannot be restricted to some repositories, so more are fetched if some may be left
# out; if too few remain, all entries of those repositories are compared.
_NEAREST, _NEAREST_OF_SOME, _SOURCES = 40, 400, 5
_SAME = "the same meaning"
_LINKED = """
    MATCH (t:Thread {key: $key})-[l:LINKS]-(o:Thread)-[:IN]->(r:Repository)
    RETURN r.id, r.name, o.name, o.title, o.status, 1.0, l.kind
"""
# A file of few threads is stronger evidence than a file of many.
_FILES = """
    MATCH (:Thread {key: $key})-[:HAS]->(:Entry)-[:MENTIONS]->(f:File)
    WITH DISTINCT f
    MATCH (f)<-[:MENTIONS]-(:Entry)<-[:HAS]-(o:Thread)
    WITH f, collect(DISTINCT o) AS threads
    UNWIND threads AS o
    MATCH (o)-[:IN]->(r:Repository) WHERE o.key <> $key
    RETURN r.id, r.name, o.name, o.title, o.status, sum(1.0 / size(threads)),
    collect(f.path)[0]
"""
_WORDS = """
    CALL db.idx.fulltext.queryNodes('Entry', $words) YIELD node AS e, score
    WITH e, score WHERE $all OR e.repository IN $chosen
    WITH e, %(score)s AS score ORDER BY score DESC LIMIT 200
    MATCH (e)<-[:HAS]-(o:Thread)-[:IN]->(r:Repository) WHERE o.key <> $key
    WITH o, r, score, [beginning IN $beginnings WHERE
    e.title_words CONTAINS beginning OR e.body_words CONTAINS beginning OR
    e.topic_words CONTAINS beginning OR e.tag_words CONTAINS beginning] AS used
    RETURN r.id, r.name, o.name, o.title, o.status, max(score), collect(used)
"""
_NEAR = """
    MATCH (:Thread {key: $key})-[:HAS]->(:Entry)-[:MEANS]->(v:Vector)
    WHERE v.%(name)s IS NOT NULL WITH v LIMIT $sources
    CALL db.idx.vector.queryNodes('Vector', '%(name)s', $most, v.%(name)s)
    YIELD node, score
    WITH node, score ORDER BY score LIMIT 200
    MATCH (node)<-[:MEANS]-(:Entry)<-[:HAS]-(o:Thread)-[:IN]->(r:Repository)
    WHERE o.key <> $key
    RETURN r.id, r.name, o.name, o.title, o.status, max(1.0 - score), 'meaning'
"""
_COUNTED = """
    CALL db.idx.fulltext.queryNodes('Entry', $words) YIELD node AS e
    WITH e WHERE e.repository IN $chosen RETURN %(sums)s
"""
_THREADS = (
    "MATCH (t:Thread)-[:IN]->(r:Repository) WHERE r.id IN $chosen RETURN count(t)"
)
_OWN_VECTORS = """
    MATCH (:Thread {key: $key})-[:HAS]->(:Entry)-[:MEANS]->(v:Vector)
    WHERE v.%(name)s IS NOT NULL RETURN v.key LIMIT $sources
"""
_NEAR_SOME = """
    MATCH (v:Vector {key: $source})
    CALL db.idx.vector.queryNodes('Vector', '%(name)s', $most, v.%(name)s)
    YIELD node, score
    WITH node, score WHERE node.repository IN $chosen
"""
_NEAR_EXACT = """
    MATCH (v:Vector {key: $source}) MATCH (node:Vector)
    WHERE node.repository IN $chosen AND node.%(name)s IS NOT NULL
    WITH node, vec.cosineDistance(node.%(name)s, v.%(name)s) AS score
"""
_NEAR_THREADS = """
    WITH node, score ORDER BY score LIMIT $least
    MATCH (node)<-[:MEANS]-(:Entry)<-[:HAS]-(o:Thread)-[:IN]->(r:Repository)
    RETURN r.id, r.name, o.name, o.title, o.status, 1.0 - score, 'meaning', o.key
"""


class RelatedThread(NamedTuple):
    """A thread related to another one: ``why`` has the reasons in words."""

    repository: str
    name: str
    topic: str
    title: str
    status: str
    score: float
    why: tuple[str, ...]


def related(
    graph: GraphReader,
    key: str,
    forms: Mapping[str, str],
    repositories: Sequence[str] | None,
) -> list[RelatedThread]:
    """Returns the threads related to the one whose node has the ``key`` and which uses
    these words (see `most_used_words`), the nearest first; only of some
    ``repositories`` if given. Raises GraphAwayError."""
    rows = [
        *_weighted(graph.rows(_LINKED, key=key), "{}"),
        *_weighted(graph.rows(_FILES, key=key), "about {}"),
        *_by_words(graph, key, forms, repositories),
        *_by_meaning(graph, key, repositories),
    ]
    threads: dict[tuple[str, str], RelatedThread] = {}
    for repository, name, topic, own_title, status, score, why in rows:
        if repositories is not None and repository not in repositories:
            continue
        before = threads.get((repository, topic))
        if before is None:
            texts = (repository, name, topic, own_title or "", status or "")
            before = RelatedThread(*texts, 0.0, ())
        threads[repository, topic] = before._replace(
            score=before.score + score, why=(*before.why, why)
        )
    return sorted(threads.values(), key=_order)


def _order(thread: RelatedThread) -> tuple[float, str, str]:
    return -thread.score, thread.repository, thread.topic


def _weighted(rows: Sequence[Sequence[Any]], words: str) -> list[_Row]:
    """The rows with a score of at most 1, and the reason in words."""
    return [(*row[:5], min(1.0, float(row[5])), words.format(row[6])) for row in rows]


def _chosen(repositories: Sequence[str] | None) -> dict[str, Any]:
    """The parameters of a statement about some repositories, or all.

    Repositories that the caller may not see are excluded before any ranking or limit:
    otherwise the answer would depend on them.
    """
    return {"all": repositories is None, "chosen": list(repositories or ())}


def _by_words(
    graph: GraphReader,
    key: str,
    forms: Mapping[str, str],
    repositories: Sequence[str] | None,
) -> list[_Row]:
    if not forms:
        return []
    parameters = {
        "key": key,
        "words": "|".join(f"{beginning}*" for beginning in forms),
        "beginnings": [f" {beginning}" for beginning in forms],
        **_chosen(repositories),
    }
    score = "score"
    if repositories is not None:
        score = _weighed(graph, len(forms), parameters)
    rows = graph.rows(_WORDS % {"score": score}, **parameters)
    most = max((row[5] for row in rows), default=1.0) or 1.0
    return [
        (*row[:5], row[5] / most, shared_words(forms, _used(row[6]))) for row in rows
    ]


def _weighed(graph: GraphReader, terms: int, parameters: dict[str, Any]) -> str:
    """The expression of an entry's score: `rough_score`, with weights from the chosen
    repositories. The graph's own depends on how often all repositories use a word."""
    found = [_in_fields((*PROMINENT_FIELDS, "body"), term) for term in range(terms)]
    sums = ", ".join(f"sum(CASE WHEN {text} THEN 1 ELSE 0 END)" for text in found)
    ((*counts,),) = graph.rows(_COUNTED % {"sums": sums}, **parameters)
    ((threads,),) = graph.rows(_THREADS, chosen=parameters["chosen"])
    weights = term_weights([int(count) for count in counts], threads)
    parts = (
        f"CASE WHEN {_in_fields(PROMINENT_FIELDS, term)} THEN {2 * weight} "
        f"WHEN {found[term]} THEN {weight} ELSE 0 END"
        for term, weight in enumerate(weights)
    )
    return " + ".join(parts)


def _in_fields(fields: Sequence[str], term: int) -> str:
    parts = (f"e.{word_field(field)} CONTAINS $beginnings[{term}]" for field in fields)
    return f"({' OR '.join(parts)})"


def _used(of_entries: Sequence[Sequence[str]]) -> set[str]:
    return {beginning.strip() for used in of_entries for beginning in used}


def shared_words(forms: Mapping[str, str], used: Collection[str]) -> str:
    """Returns the reason that two threads share words. The words that the first thread
    uses most come first."""
    words = [form for beginning, form in forms.items() if beginning in used]
    return f"the words {', '.join(words[:_REASONS])}"


def _by_meaning(
    graph: GraphReader, key: str, repositories: Sequence[str] | None
) -> list[_Row]:
    rows: list[_Row] = []
    for (position,) in graph.rows("MATCH (m:Model) RETURN m.position"):
        name = f"vector_{position}"
        if repositories is None:
            statement = _NEAR % {"name": name}
            rows += _weighted(
                graph.rows(statement, key=key, most=_NEAREST, sources=_SOURCES),
                _SAME,
            )
        else:
            rows += _weighted(_near_in(graph, key, name, repositories), _SAME)
    return rows


def _near_in(
    graph: GraphReader, key: str, name: str, repositories: Sequence[str]
) -> list[_Row]:
    """The threads of some repositories that are near one, like `_NEAR`."""
    names = {"name": name}
    nearest: dict[str, _Row] = {}
    for (source,) in graph.rows(_OWN_VECTORS % names, key=key, sources=_SOURCES):
        parameters = {
            "source": source,
            "chosen": list(repositories),
            "most": _NEAREST_OF_SOME,
            "least": _NEAREST,
        }
        rows = graph.rows(_NEAR_SOME % names + _NEAR_THREADS, **parameters)
        if len(rows) < _NEAREST:
            rows = graph.rows(_NEAR_EXACT % names + _NEAR_THREADS, **parameters)
        for *row, other in rows:
            if other != key and row[5] > nearest.get(other, (0.0,) * 6)[5]:
                nearest[other] = tuple(row)
    return [*nearest.values()]
