"""Searching the entries of all repositories in a graph.

What matches is decided as in `wc_core.views.search`: every word, as a beginning, in the
title, the body, the topic or the author; entries with the words in their title first,
the newest of them first. If no entry has every word, those with some of them follow
the graph's own order, and the answer says so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wc_core.graphdb.schema import word_field
from wc_core.search import words
from wc_core.search.mentions import Mentions, at_least
from wc_core.search.words import FIELDS
from wc_core.threads.model import Entry
from wc_core.values import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wc_core.search.words import Term
    from wc_core.views.search.answers import SearchQuery
    from wc_observe.graphdb.reader import GraphReader

_AROUND = 60
# Entries whose mentions are compared, which the graph cannot do.
_COMPARED = 2000
# Shorter beginnings have too many endings for the graph's index of words.
_SHORT = 3
_FOUND = (
    "RETURN r.id, r.name, t.name, e.idx, e.id, e.at, e.author, e.title, e.body, "
    "e.mark, e.prs, e.commits"
)


class GraphHit(NamedTuple):
    """An entry that matches, in a repository, with the words around the match."""

    repository: str
    name: str
    topic: str
    idx: int
    entry: Entry
    snippet: str
    mark: str = ""


class GraphHits(NamedTuple):
    """The first hits, best first, and how many there are in all. ``some`` says that
    they have some of the words; no entry has all."""

    hits: tuple[GraphHit, ...]
    total: int
    some: bool = False


class Scope(NamedTuple):
    """Where to search: the ids of repositories (``None``: all), the status of threads
    and the names that hold their balls (``None``: any; an empty one is nobody)."""

    repositories: tuple[str, ...] | None = None
    status: str = ""
    balls: tuple[str, ...] | None = None


def search(graph: GraphReader, query: SearchQuery, scope: Scope) -> GraphHits:
    """Returns the entries that match. Raises GraphAwayError."""
    hits = _every_word(graph, query, scope)
    if hits.total or len(query.terms) < 2:  # noqa: PLR2004
        return hits
    return _some_words(graph, query, scope)


def _every_word(graph: GraphReader, query: SearchQuery, scope: Scope) -> GraphHits:
    needles = {f"n{i}": term.needle for i, term in enumerate(query.terms)}
    conditions = [_term_condition(term, f"n{i}") for i, term in enumerate(query.terms)]
    in_title = [
        f"CASE WHEN e.{word_field('title')} CONTAINS $n{i} THEN 1 ELSE 0 END"
        for i in range(len(query.terms))
    ]
    count = " + ".join(in_title) or "0"
    rank = (
        f"WITH r, t, e, {count} AS matched WITH r, t, e, CASE matched "
        f"WHEN 0 THEN 0 WHEN {len(query.terms)} THEN 2 ELSE 1 END AS rank "
    )
    source, parameters = _source(query, " ")
    matched = f"{source} {_where([*conditions, *_conditions(query.about, scope)])} "
    parameters |= needles | _values(query.about, scope)
    if query.about._replace(branch="", kind="", severity="") != Mentions():
        rows = graph.rows(
            f"{matched}{rank}{_FOUND} ORDER BY rank DESC, e.id DESC LIMIT {_COMPARED}",
            **parameters,
        )
        hits = [hit for hit in _hits(graph, rows, query) if query.about.fit(hit.entry)]
        return GraphHits(tuple(hits[: query.limit or None]), len(hits))
    total = graph.rows(f"{matched} RETURN count(e)", **parameters)[0][0]
    rows = graph.rows(
        f"{matched}{rank}{_FOUND} ORDER BY rank DESC, e.id DESC "
        f"LIMIT {query.limit or _COMPARED}",
        **parameters,
    )
    return GraphHits(tuple(_hits(graph, rows, query)), total)


def _some_words(graph: GraphReader, query: SearchQuery, scope: Scope) -> GraphHits:
    source, parameters = _source(query, "|")
    matched = f"{source} {_where(_conditions(query.about, scope))} "
    parameters |= _values(query.about, scope)
    total = graph.rows(f"{matched} RETURN count(e)", **parameters)[0][0]
    rows = graph.rows(
        f"{matched} {_FOUND} ORDER BY score DESC, e.id DESC "
        f"LIMIT {query.limit or _COMPARED}",
        **parameters,
    )
    hits = _hits(graph, rows, query)
    if query.about != Mentions():
        hits = [hit for hit in hits if query.about.fit(hit.entry)]
    return GraphHits(tuple(hits), total, some=True)


def _source(query: SearchQuery, between: str) -> tuple[str, dict[str, Any]]:
    """The clauses that find candidates: by the index of words where there are any."""
    around = "MATCH (e)<-[:HAS]-(t:Thread)-[:IN]->(r:Repository)"
    # Of authors the index has no words: `Mentions.fit` looks at them.
    mentioned = [term for term in query.about.terms if not term.field]
    if not query.terms and not mentioned:
        label = ":Decision" if query.about.kind == "decision" else ""
        return f"MATCH (e:Entry{label}) WITH e, 0 AS score {around}", {}
    text = between.join(_index_words(query.terms, between, mentioned))
    found = "CALL db.idx.fulltext.queryNodes('Entry', $words) YIELD node AS e, score"
    return f"{found} {around}", {"words": text}


def _index_words(
    terms: Sequence[Term], between: str, mentioned: Sequence[Term]
) -> list[str]:
    """The words to ask the index for. With every word (``between`` is blank), short
    beginnings are left to the conditions if there are other words."""
    texts = []
    for term in (*terms, *mentioned):
        *whole, last = term.words
        is_prefix = term.prefix
        texts += whole
        if is_prefix and len(last) < _SHORT and between == " " and len(terms) > 1:
            continue
        texts.append(f"{last}*" if is_prefix else last)
    return texts or [f"{term.words[-1]}*" for term in terms]


def _term_condition(term: Term, name: str) -> str:
    fields = (term.field,) if term.field else FIELDS
    parts = (f"e.{word_field(field)} CONTAINS ${name}" for field in fields)
    return f"({' OR '.join(parts)})"


def _conditions(about: Mentions, scope: Scope) -> list[str]:
    conditions = []
    if scope.repositories is not None:
        conditions.append("r.id IN $repositories")
    if scope.status:
        conditions.append("t.status = $status")
    if scope.balls is not None:
        conditions.append("coalesce(t.ball, '') IN $balls")
    if about.branch:
        conditions.append("e.branch = $branch")
    if about.kind:
        conditions.append("e.kind = $kind")
    if about.severity:
        conditions.append("e.severity IN $severities")
    return conditions


def _values(about: Mentions, scope: Scope) -> dict[str, Any]:
    """The values of `_conditions`; those that are not used do no harm."""
    return {
        "repositories": list(scope.repositories or ()),
        "status": scope.status,
        "balls": list(scope.balls or ()),
        "branch": about.branch,
        "kind": about.kind,
        "severities": list(at_least(about.severity)) if about.severity else [],
    }


def _where(conditions: Sequence[str]) -> str:
    return f"WHERE {' AND '.join(conditions)}" if conditions else ""


def _hits(
    graph: GraphReader, rows: Sequence[Sequence[Any]], query: SearchQuery
) -> list[GraphHit]:
    terms = (*query.terms, *query.about.terms)
    files = _files(graph, rows) if query.about.file else {}
    hits = []
    for repository, name, topic, idx, entry_id, at, author, *texts in rows:
        title, body, mark, prs, commits = texts
        entry = Entry(
            entry_id,
            topic,
            author or "",
            at or "",
            title or "",
            body or "",
            pr_refs=tuple(prs or ()),
            commit_refs=tuple(commits or ()),
            file_refs=files.get((repository, entry_id), ()),
            code_branch=query.about.branch,
            kind=query.about.kind,
            severity=query.about.severity,
        )
        snippet = words.mark_terms(entry.body or entry.title, terms, _AROUND)
        hits.append(GraphHit(repository, name, topic, idx, entry, snippet, mark or ""))
    return hits


def _files(
    graph: GraphReader, rows: Sequence[Sequence[Any]]
) -> dict[tuple[str, str], tuple[str, ...]]:
    """The files that entries record, by repository and id."""
    found = graph.rows(
        "UNWIND $ids AS id MATCH (e:Entry {id: id})-[:MENTIONS]->(f:File) "
        "RETURN e.repository, e.id, collect(f.path)",
        ids=[row[4] for row in rows],
    )
    return {(repository, key): tuple(paths) for repository, key, paths in found}
