"""Searching the entries of all repositories in a graph.

What matches is decided as in `wc_core.views.search`: every word, as a beginning, in the
title, the body, the topic or the author; where few entries have every word, those with
some of them follow. The order is simpler: entries with the words in their title first,
the newest of them first; those with some of the words as the graph ranks them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wc_core.graphdb.schema import word_field
from wc_core.search import words
from wc_core.search.mentions import Mentions, at_least
from wc_core.search.ranking import loose_terms, required_terms
from wc_core.search.words import FIELDS
from wc_core.threads.model import Entry
from wc_core.values import NamedTuple
from wc_core.views.search.answers import ANY
from wc_core.views.search.ranked import HANDFUL, SUGGESTED

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
    is_partial: bool = False


class GraphHits(NamedTuple):
    """The first hits, best first, and how many there are in all: ``partial`` of them
    have only some of the words, the best of ``candidates`` that do."""

    hits: tuple[GraphHit, ...]
    total: int
    partial: int = 0
    candidates: int = 0


class Scope(NamedTuple):
    """Where to search: the ids of repositories (``None``: all), the status of threads,
    the names that hold their balls (``None``: any; an empty one is nobody), and tags
    that they have."""

    repositories: tuple[str, ...] | None = None
    status: str = ""
    balls: tuple[str, ...] | None = None
    tags: tuple[str, ...] = ()


def search(
    graph: GraphReader, query: SearchQuery, scope: Scope, *, mode: str, loosely: bool
) -> GraphHits:
    """Returns the entries that match; with ``loosely`` also those with some of the
    words, where few have all. Raises GraphAwayError."""
    terms = loose_terms(query.terms)
    is_any = mode == ANY and bool(terms)
    whole = GraphHits((), 0) if is_any else _every_word(graph, query, scope)
    required = required_terms(query.terms)
    is_other_query = (
        mode == ANY or len(terms) > 1 or {*terms, *required} != {*query.terms}
    )
    if not (loosely and terms and is_other_query and whole.total < HANDFUL):
        return whole
    most = query.limit if mode == ANY else SUGGESTED
    loose = query._replace(terms=terms, limit=most + len(whole.hits) if most else 0)
    candidates, total = _some_words(graph, loose, required, scope)
    whole_entries = {(hit.repository, hit.entry.id) for hit in whole.hits}
    partial = [
        hit._replace(is_partial=True)
        for hit in candidates
        if (hit.repository, hit.entry.id) not in whole_entries
    ]
    partial = partial[: most or None]
    hits = (*whole.hits, *partial)[: query.limit or None]
    count = total if mode == ANY else len(partial)
    return GraphHits(hits, whole.total + count, count, total)


def _every_word(graph: GraphReader, query: SearchQuery, scope: Scope) -> GraphHits:
    needles = {f"n{i}": term.needle for i, term in enumerate(query.terms)}
    conditions = [_term_condition(term, f"n{i}") for i, term in enumerate(query.terms)]
    in_title = [
        f"CASE WHEN e.{word_field('title')} CONTAINS $n{i} THEN 1 ELSE 0 END"
        for i in range(len(query.terms))
    ]
    count = " + ".join(in_title) or "0"
    order = "rank DESC, e.id DESC" if query.by_title else "e.id DESC"
    rank = (
        f"WITH r, t, e, {count} AS matched WITH r, t, e, CASE matched "
        f"WHEN 0 THEN 0 WHEN {len(query.terms)} THEN 2 ELSE 1 END AS rank "
    )
    source, parameters = _source(query, " ")
    matched = f"{source} {_where([*conditions, *_conditions(query.about, scope)])} "
    parameters |= needles | _values(query.about, scope)
    if query.about.file or query.about.pr or query.about.commit:
        rows = graph.rows(
            f"{matched}{rank}{_FOUND} ORDER BY {order} LIMIT {_COMPARED}",
            **parameters,
        )
        hits = [hit for hit in _hits(graph, rows, query) if query.about.fit(hit.entry)]
        return GraphHits(tuple(hits[: query.limit or None]), len(hits))
    total = graph.rows(f"{matched} RETURN count(e)", **parameters)[0][0]
    rows = graph.rows(
        f"{matched}{rank}{_FOUND} ORDER BY {order} LIMIT {query.limit or _COMPARED}",
        **parameters,
    )
    return GraphHits(tuple(_hits(graph, rows, query)), total)


def _some_words(
    graph: GraphReader, query: SearchQuery, required: Sequence[Term], scope: Scope
) -> tuple[list[GraphHit], int]:
    """The best entries with any of the terms and all that are required, and how many
    there are."""
    source, parameters = _source(query, "|")
    conditions = [_term_condition(term, f"n{i}") for i, term in enumerate(required)]
    matched = f"{source} {_where([*conditions, *_conditions(query.about, scope)])} "
    parameters |= {f"n{i}": term.needle for i, term in enumerate(required)}
    parameters |= _values(query.about, scope)
    total = graph.rows(f"{matched} RETURN count(e)", **parameters)[0][0]
    order = "score DESC, e.id DESC" if query.by_title else "e.id DESC"
    rows = graph.rows(
        f"{matched} {_FOUND} ORDER BY {order} LIMIT {query.limit or _COMPARED}",
        **parameters,
    )
    hits = _hits(graph, rows, query)
    if query.about.file or query.about.pr or query.about.commit:
        hits = [hit for hit in hits if query.about.fit(hit.entry)]
    return hits, total


def _source(query: SearchQuery, between: str) -> tuple[str, dict[str, Any]]:
    """The clauses that find candidates: by the index of words where there are any."""
    around = "MATCH (e)<-[:HAS]-(t:Thread)-[:IN]->(r:Repository)"
    # Of authors the index has no words: `Mentions.fit` looks at them.
    mentioned = [term for term in query.about.terms if not term.field]
    if not query.terms and not mentioned:
        label = ":Decision" if query.about.kind == "decision" else ""
        return f"MATCH (e:Entry{label}) WITH e, 0 AS score {around}", {}
    text = between.join(_index_words(query.terms, between, mentioned))
    index_call = (
        "CALL db.idx.fulltext.queryNodes('Entry', $words) YIELD node AS e, score"
    )
    return f"{index_call} {around}", {"words": text}


def _index_words(
    terms: Sequence[Term], between: str, mentioned: Sequence[Term]
) -> list[str]:
    """The words to ask the index for. With every word (``between`` is blank), short
    beginnings are left to the conditions if there are other words."""
    texts = []
    for term in (*terms, *mentioned):
        *whole, final_word = term.words
        is_prefix = term.prefix
        texts += whole
        if is_prefix and len(final_word) < _SHORT and between == " " and len(terms) > 1:
            continue
        texts.append(f"{final_word}*" if is_prefix else final_word)
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
    if scope.tags:
        conditions.append("all(tag IN $tags WHERE tag IN t.tags)")
    return conditions + _time_conditions(about)


def _time_conditions(about: Mentions) -> list[str]:
    """The conditions about who wrote an entry, and when."""
    conditions = ["e.id > $since"] if about.since else []
    if about.until:
        conditions.append("e.id <= $until")
    if about.author:
        field = word_field("author")
        conditions.append(f"all(name IN $authors WHERE e.{field} CONTAINS name)")
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
        "tags": list(scope.tags),
        "since": about.since,
        "until": about.until,
        "authors": [f" {name}" for name in words.plain_words(about.author).split()],
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
    rows_with_files = graph.rows(
        "UNWIND $ids AS id MATCH (e:Entry {id: id})-[:MENTIONS]->(f:File) "
        "RETURN e.repository, e.id, collect(f.path)",
        ids=[row[4] for row in rows],
    )
    return {
        (repository, key): tuple(paths) for repository, key, paths in rows_with_files
    }
