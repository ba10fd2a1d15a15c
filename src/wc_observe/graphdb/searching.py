"""Searches the entries of all repositories in a graph.

Matches are decided as in `wc_core.views.search`: every word, as a prefix, in the title,
the body, the topic or the author; if few entries have every word, those with some of
them follow, and those with a similar meaning. The order is simpler: entries with the
words in their title first, newest first; those with some of the words in the graph's
ranking.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wc_core.graphdb.schema import word_field
from wc_core.search import excerpts, words
from wc_core.search.mentions import Mentions, at_least
from wc_core.search.nearness import mixed
from wc_core.search.ranking import (
    PROMINENT_FIELDS,
    loose_terms,
    required_terms,
    term_weights,
)
from wc_core.search.words import FIELDS
from wc_core.threads.model import Entry
from wc_core.values import NamedTuple
from wc_core.views.search.near import LEAST_TERMS
from wc_core.views.search.query import ANY
from wc_core.views.search.ranked import HANDFUL, RANKED, SUGGESTED, without_meaning

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from wc_core.search.words import Term
    from wc_core.views.search.query import SearchQuery
    from wc_observe.graphdb.nearness import QueryVector
    from wc_observe.graphdb.reader import GraphReader

    # The repository, the topic and the id of an entry.
    EntryPlace = tuple[str, str, str]

_AROUND = 60
# The most entries whose mentions are compared, which the graph cannot do.
_COMPARED = 2000
# How many of the nearest entries to fetch if some of them may be left out, at first and
# if too few remain. After that, all entries in question are compared.
_NEAREST_OF_SOME = (400, 4000)
# Shorter prefixes have too many endings for the graph's word index.
_SHORT = 3
_FOUND = (
    "RETURN r.id, r.name, t.name, e.idx, e.id, e.at, e.author, e.title, e.body, "
    "e.mark, e.prs, e.commits"
)


class GraphHit(NamedTuple):
    """A matching entry, in a repository, with the words around the match."""

    repository: str
    name: str
    topic: str
    idx: int
    entry: Entry
    snippet: str
    mark: str = ""
    is_partial: bool = False
    is_near: bool = False
    score: float = 0.0

    @property
    def place(self) -> EntryPlace:
        """The key of the entry."""
        return self.repository, self.topic, self.entry.id


class GraphHits(NamedTuple):
    """A page of hits, best first, and their total. ``partial`` of them have only some
    of the words: the best of ``candidates`` such entries. ``near`` of these have none,
    but a similar meaning. ``newest`` is the greatest id among the matches and the
    entries near the query; ``by_words`` says why meaning was not used. ``is_mixed``:
    the order depends on it."""

    hits: tuple[GraphHit, ...]
    total: int
    partial: int = 0
    candidates: int = 0
    near: int = 0
    newest: str = ""
    by_words: str = ""
    is_mixed: bool = False


class Start(NamedTuple):
    """Where a page begins: after this many of the hits that are not newer than the
    entry ``newest``. ``is_mixed``: their order depends on meaning."""

    newest: str = ""
    offset: int = 0
    is_mixed: bool = False


BEGINNING = Start()


class Scope(NamedTuple):
    """Where to search: the ids of repositories (``None``: all), the status of threads,
    the names of ball holders (``None``: any; an empty name is a free ball), and
    required tags."""

    repositories: tuple[str, ...] | None = None
    status: str = ""
    balls: tuple[str, ...] | None = None
    tags: tuple[str, ...] = ()


def search(  # noqa: PLR0913 (what is asked, where, how, and from where on)
    graph: GraphReader,
    query: SearchQuery,
    scope: Scope,
    *,
    mode: str,
    loosely: bool,
    start: Start = BEGINNING,
    vector_of: Callable[[], QueryVector] | None = None,
) -> GraphHits:
    """Returns a page of matching entries. With ``loosely``, also those with some of the
    words if few have all; with ``vector_of``, also those near the query. Raises
    GraphAwayError, and InvalidInputError if the start's order cannot be had now."""
    terms = loose_terms(query.terms)
    is_any = mode == ANY and bool(terms)
    whole = GraphHits((), 0) if is_any else _every_word(graph, query, scope, start)
    required = required_terms(query.terms)
    is_other_query = (
        mode == ANY or len(terms) > 1 or {*terms, *required} != {*query.terms}
    )
    if not (loosely and terms and is_other_query and whole.total < HANDFUL):
        return whole
    loose = _Loose(query._replace(terms=terms), required, scope, start.newest)
    if mode == ANY:
        partial = _some_words(graph, loose, start.offset, query.limit)
        return partial._replace(
            hits=tuple(hit._replace(is_partial=True) for hit in partial.hits),
            partial=partial.total,
        )
    # All entries with every word are needed, to tell them from the others.
    every = _every_word(graph, query._replace(limit=0), scope, Start(start.newest))
    answered = {hit.place for hit in every.hits}
    some = _some_words(graph, loose, 0, RANKED)
    suggested, problem, is_mixed = list(some.hits), "", False
    # Later pages are in the order of the first, whether or not there is a model by now.
    is_asked = start.is_mixed or not start.offset
    if vector_of is not None and len(terms) >= LEAST_TERMS and is_asked:
        vector = vector_of()
        problem, is_mixed = vector.problem, bool(vector.name)
        if is_mixed:
            suggested = _mixed(suggested, _nearest(graph, loose, vector))
    if start.is_mixed and not is_mixed:
        raise without_meaning(problem)
    partial_hits = [
        hit._replace(is_partial=True) for hit in suggested if hit.place not in answered
    ][:SUGGESTED]
    hits = (*every.hits, *partial_hits)[start.offset :][: query.limit or None]
    return GraphHits(
        hits,
        every.total + len(partial_hits),
        len(partial_hits),
        some.total,
        sum(hit.is_near for hit in partial_hits),
        max((every.newest, some.newest, *(hit.entry.id for hit in suggested))),
        problem,
        is_mixed,
    )


class _Loose(NamedTuple):
    """Entries with any term of a query, and all required terms, up to the id ``newest``
    unless that is empty."""

    query: SearchQuery
    required: Sequence[Term]
    scope: Scope
    newest: str

    def conditions(self) -> list[str]:
        """Returns the conditions apart from the terms."""
        required = [
            _term_condition(term, f"n{i}") for i, term in enumerate(self.required)
        ]
        conditions = _conditions(self.query.about, self.scope)
        return [*required, *conditions, *_up_to(self.newest)]

    def values(self) -> dict[str, Any]:
        """Returns the values of the conditions."""
        needles = {f"n{i}": term.needle for i, term in enumerate(self.required)}
        values = _values(self.query.about, self.scope)
        return {**needles, **values, "newest": self.newest}

    def fitting(self, hits: Sequence[GraphHit]) -> list[GraphHit]:
        """Returns the hits that mention the requested files, commits or pull
        requests."""
        about = self.query.about
        if not about.needs_text:
            return list(hits)
        return [hit for hit in hits if about.fit(hit.entry)]


def _up_to(newest: str) -> list[str]:
    return ["e.id <= $newest"] if newest else []


def _every_word(
    graph: GraphReader, query: SearchQuery, scope: Scope, start: Start
) -> GraphHits:
    needles = {f"n{i}": term.needle for i, term in enumerate(query.terms)}
    conditions = [_term_condition(term, f"n{i}") for i, term in enumerate(query.terms)]
    in_title = [
        f"CASE WHEN e.{word_field('title')} CONTAINS $n{i} THEN 1 ELSE 0 END"
        for i in range(len(query.terms))
    ]
    count = " + ".join(in_title) or "0"
    order = "rank DESC, e.id DESC" if query.by_title else "e.id DESC"
    order += ", e.key"
    rank = (
        f"WITH r, t, e, {count} AS matched WITH r, t, e, CASE matched "
        f"WHEN 0 THEN 0 WHEN {len(query.terms)} THEN 2 ELSE 1 END AS rank "
    )
    source, parameters = _source(query, " ")
    conditions += [*_conditions(query.about, scope), *_up_to(start.newest)]
    matched = f"{source} {_where(conditions)} "
    parameters |= needles | _values(query.about, scope) | {"newest": start.newest}
    if query.about.needs_text:
        rows = graph.rows(
            f"{matched}{rank}{_FOUND}, 0.0 ORDER BY {order} LIMIT {_COMPARED}",
            **parameters,
        )
        hits = [hit for hit in _hits(graph, rows, query) if query.about.fit(hit.entry)]
        newest = max((hit.entry.id for hit in hits), default="")
        page = hits[start.offset :][: query.limit or None]
        return GraphHits(tuple(page), len(hits), newest=newest)
    total, newest = _counted(graph, matched, parameters)
    rows = graph.rows(
        f"{matched}{rank}{_FOUND}, 0.0 ORDER BY {order} SKIP {start.offset} "
        f"LIMIT {query.limit or _COMPARED}",
        **parameters,
    )
    return GraphHits(tuple(_hits(graph, rows, query)), total, newest=newest)


def _counted(
    graph: GraphReader, matched: str, parameters: dict[str, Any]
) -> tuple[int, str]:
    """The number of matching entries, and the greatest id among them."""
    ((total, newest),) = graph.rows(
        f"{matched} RETURN count(e), max(e.id)", **parameters
    )
    return total, newest or ""


def _some_words(
    graph: GraphReader, loose: _Loose, offset: int, limit: int
) -> GraphHits:
    """The best entries with any of the terms and all required ones, and their total."""
    query = loose.query
    source, parameters = _source(query, "|")
    matched = f"{source} {_where(loose.conditions())} "
    parameters |= loose.values()
    if query.by_title and loose.scope.repositories is not None:
        total, newest, score = _weighed(graph, loose, matched, parameters)
    else:
        total, newest = _counted(graph, matched, parameters)
        score = "score"
    order = "score DESC, e.id DESC" if query.by_title else "e.id DESC"
    rows = graph.rows(
        f"{matched} WITH r, t, e, {score} AS score {_FOUND}, score "
        f"ORDER BY {order}, e.key SKIP {offset} LIMIT {limit or _COMPARED}",
        **parameters,
    )
    hits = loose.fitting(_hits(graph, rows, query))
    return GraphHits(tuple(hits), total, newest=newest)


def _weighed(
    graph: GraphReader, loose: _Loose, matched: str, parameters: dict[str, Any]
) -> tuple[int, str, str]:
    """The number of matching entries, the greatest id among them, and the expression of
    their score.

    It is `rough_score`, with weights from the repositories that are searched. The
    graph's own score depends on how often all repositories use a word.
    """
    terms = loose.query.terms
    parameters |= {f"w{i}": term.needle for i, term in enumerate(terms)}
    conditions = [_term_condition(term, f"w{i}") for i, term in enumerate(terms)]
    prominent = [_in_fields(PROMINENT_FIELDS, f"w{i}") for i, _ in enumerate(terms)]
    sums = ", ".join(
        f"sum(CASE WHEN {condition} THEN 1 ELSE 0 END)" for condition in conditions
    )
    ((total, newest, *counts),) = graph.rows(
        f"{matched} RETURN count(e), max(e.id), {sums}", **parameters
    )
    ((threads,),) = graph.rows(
        "MATCH (t:Thread)-[:IN]->(r:Repository) WHERE r.id IN $repositories "
        "RETURN count(t)",
        repositories=list(loose.scope.repositories or ()),
    )
    weights = term_weights([int(count) for count in counts], threads)
    parts = (
        f"CASE WHEN {title} THEN {2 * weight} WHEN {text} THEN {weight} ELSE 0 END"
        for title, text, weight in zip(prominent, conditions, weights, strict=True)
    )
    return total, newest or "", " + ".join(parts)


def _nearest(graph: GraphReader, loose: _Loose, vector: QueryVector) -> list[GraphHit]:
    """The entries nearest to a query, each with its nearness."""
    name, conditions = vector.name, loose.conditions()
    around = "<-[:MEANS]-(e:Entry)<-[:HAS]-(t:Thread)-[:IN]->(r:Repository)"
    distance = f"vec.cosineDistance(v.{name}, vecf32($vector)) AS distance"
    # The index cannot be restricted to some of the entries.
    of_index = (
        f"CALL db.idx.vector.queryNodes('Vector', '{name}', %d, vecf32($vector)) "
        f"YIELD node AS v, score AS distance MATCH (v){around} {_where(conditions)}"
    )
    known = f"v.{name} IS NOT NULL"
    if not conditions:
        steps = [of_index % RANKED]
    else:
        several = of_index % _NEAREST_OF_SOME[1]
        in_question = [known, *conditions]
        if loose.scope.repositories is not None:
            several = (
                f"MATCH (v:Vector) WHERE v.repository IN $repositories AND {known} "
                f"WITH v, {distance} ORDER BY distance LIMIT {_NEAREST_OF_SOME[1]} "
                f"MATCH (v){around} {_where(conditions)}"
            )
            in_question.insert(0, "e.repository IN $repositories")
        every = (
            f"MATCH (v:Vector){around} {_where(in_question)} WITH r, t, e, {distance}"
        )
        steps = [of_index % _NEAREST_OF_SOME[0], several, every]
    rows: list[list[Any]] = []
    for step in steps:
        rows = graph.rows(
            f"{step} {_FOUND}, 1.0 - distance ORDER BY distance, e.key LIMIT {RANKED}",
            **{"vector": list(vector.numbers), **loose.values()},
        )
        if len(rows) >= RANKED:
            break
    return loose.fitting(_hits(graph, rows, loose.query))


def _mixed(by_words: list[GraphHit], nearest: list[GraphHit]) -> list[GraphHit]:
    """The hits by words and by meaning in one order, as in a store."""
    hits = {hit.place: hit for hit in (*nearest, *by_words)}
    words_scores = {hit.place: hit.score for hit in by_words}
    meaning_scores = {hit.place: hit.score for hit in nearest}
    floor = min(meaning_scores.values(), default=0.0)
    scores = mixed(words_scores, meaning_scores, max(floor, 0.0))
    best = sorted(scores, key=lambda place: (scores[place], place[2]), reverse=True)
    return [hits[place]._replace(is_near=place not in words_scores) for place in best]


def _source(query: SearchQuery, between: str) -> tuple[str, dict[str, Any]]:
    """The clauses that find candidates: with the word index if possible."""
    around = "MATCH (e)<-[:HAS]-(t:Thread)-[:IN]->(r:Repository)"
    # The index has no words of authors: `Mentions.fit` compares those.
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
    """The words to look up in the index. If every word is required (``between`` is
    blank), short prefixes are left to the conditions, provided that there are other
    words."""
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
    return _in_fields((term.field,) if term.field else FIELDS, name)


def _in_fields(fields: Sequence[str], name: str) -> str:
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
    """The conditions on an entry's author and time."""
    conditions = ["e.id > $since"] if about.since else []
    if about.until:
        conditions.append("e.id <= $until")
    if about.author:
        field = word_field("author")
        conditions.append(f"all(name IN $authors WHERE e.{field} CONTAINS name)")
    return conditions


def _values(about: Mentions, scope: Scope) -> dict[str, Any]:
    """The values for `_conditions`; unused ones do no harm."""
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
        title, body, mark, prs, commits, score = texts
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
        snippet = excerpts.mark_terms(entry.body or entry.title, terms, _AROUND)
        place = (repository, name, topic, idx)
        hit = GraphHit(*place, entry, snippet, mark or "", score=float(score))
        hits.append(hit)
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
