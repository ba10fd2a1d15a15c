"""Searches the entries of all repositories in a graph.

A graph knows for `wc_core.reading.views.search` which entries match, as an engine of a
store does. What makes a match, the order and the pages are those of the stores.
"""

from __future__ import annotations

from binascii import crc32
from typing import TYPE_CHECKING, Any

from wc_core.base.errors import InvalidInputError
from wc_core.base.names import FREE_WORDS, parse
from wc_core.base.values import NamedTuple
from wc_core.ledger.threads.model import Entry
from wc_core.lookup import words
from wc_core.lookup.mentions import Mentions, at_least
from wc_core.lookup.nearness import Nearness
from wc_core.lookup.ranking import (
    COMMON,
    PROMINENT_FIELDS,
)
from wc_core.lookup.threadwords import ThreadWords
from wc_core.lookup.words import FIELDS
from wc_core.reading.graphdb.schema import word_field
from wc_core.reading.views.entries import Numbered
from wc_core.reading.views.search.query import (
    ALL_IN_TITLE,
    SOME_IN_TITLE,
    Match,
    Matches,
    TermCounts,
    topic_counts,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence
    from typing import NoReturn

    from wc_core.lookup.nearness import EntryName
    from wc_core.lookup.words import Term
    from wc_core.people.identity.viewer import Viewer
    from wc_core.reading.views.rows import Filter
    from wc_core.reading.views.search.query import LooseQuery, SearchQuery
    from wc_observe.stores.graphdb.nearness import QueryVector
    from wc_observe.stores.graphdb.reader import GraphReader

# Between the key of a repository and a topic; occurs in neither.
_BETWEEN = "\x1f"
# The most entries of one answer, and the most that are compared by their texts, which
# the graph cannot do.
_MOST = 2000
# How many of the nearest entries count; and how many to fetch if some of them may be
# left out, at first and if too few remain. After that, all entries in question are
# compared.
_NEAREST = 100
_NEAREST_OF_SOME = (400, 4000)
# Shorter prefixes have too many endings for the graph's word index.
_SHORT = 3
_ROWS = (
    "r.id, r.name, t.topic, t.name, e.topic_words, e.tag_words, e.idx, e.id, e.at, "
    "e.author, e.title, e.body, e.mark, e.prs, e.commits, e.branch, e.kind, e.severity"
)


class Scope(NamedTuple):
    """Where to search: the ids of repositories (``None``: all), the status of threads,
    the names of ball holders (``None``: any; an empty name is a free ball), and
    required tags."""

    repositories: tuple[str, ...] | None = None
    status: str = ""
    balls: tuple[str, ...] | None = None
    tags: tuple[str, ...] = ()

    def conditions(self) -> list[str]:
        """Returns it as conditions on a repository and a thread."""
        parts = {
            "r.id IN $repositories": self.repositories is not None,
            "t.status = $status": self.status,
            "coalesce(t.ball, '') IN $balls": self.balls is not None,
            "all(tag IN $tags WHERE tag IN t.tags)": self.tags,
        }
        return [condition for condition, is_set in parts.items() if is_set]

    def values(self) -> dict[str, Any]:
        """Returns the values of the conditions; unused ones do no harm."""
        return {
            "repositories": list(self.repositories or ()),
            "status": self.status,
            "balls": list(self.balls or ()),
            "tags": list(self.tags),
        }


class _FoundEntry(NamedTuple):
    """An entry of an answer, and the words of its thread."""

    numbered: Numbered
    thread: ThreadWords


class _Statement(NamedTuple):
    """The beginning of a statement: the entries with some words, and conditions; and
    their values."""

    text: str
    values: dict[str, Any]


class SearchedGraph:
    """What one search asks a graph: an engine, the overview and the source of meaning
    in one. A thread's topic is the key of its repository and its own topic.

    ``repositories`` are the ids of those that the caller may see (``None``: all).
    ``about`` is what entries must mention. ``vector_of`` returns the vector of the
    query. Every method may raise GraphAwayError.
    """

    def __init__(
        self,
        graph: GraphReader,
        viewer: Viewer,
        repositories: tuple[str, ...] | None,
        about: Mentions,
        vector_of: Callable[[], QueryVector] | None = None,
    ) -> None:
        self.viewer = viewer
        self._graph = graph
        self._about = about
        self._vector_of = vector_of
        self._scope = Scope(repositories)
        self._found: dict[EntryName, _FoundEntry] = {}
        self._names: dict[str, str] = {}
        self._keys: dict[str, str] | None = None
        # How many entries have a term, and those required.
        self._counted: dict[Term, int] = {}

    def repository_of(self, topic: str) -> str:
        """Returns the name of the repository of a found entry's thread."""
        return self._names[topic.partition(_BETWEEN)[0]]

    # The threads.

    @property
    def overview(self) -> SearchedGraph:
        """The threads of the graph."""
        return self

    @property
    def meaning(self) -> SearchedGraph:
        """What the graph knows more than words."""
        return self

    def topics(self, _criteria: Filter) -> list[str]:
        """Returns nothing: the database has the threads."""
        return []

    def _restrict(self, criteria: Filter) -> None:
        """Restricts what follows to the threads that pass a filter."""
        self._scope = self._scope._replace(
            status=criteria.status, tags=criteria.tags, balls=self._balls(criteria.ball)
        )

    def _balls(self, ball: str) -> tuple[str, ...] | None:
        """The names of the ball holders that a filter stands for, compared as in a
        store."""
        if not ball:
            return None
        if ball.casefold() in FREE_WORDS:
            return ("",)
        viewer = self.viewer
        holders = self._graph.rows(
            "MATCH (p:Person)-[:HOLDS]->() RETURN DISTINCT p.name"
        )
        is_wanted = (
            viewer.holds
            if ball.casefold() == "me"
            else lambda name: viewer.directory.matches(ball, parse(name))
        )
        return tuple(name for (name,) in holders if is_wanted(name))

    def names(self, topics: Collection[str]) -> dict[str, str]:
        """Like `Overview.names`, of found entries."""
        by_topic = {topic: entry.thread for (topic, _), entry in self._found.items()}
        return {
            topic: by_topic[topic].name if topic in by_topic else topic
            for topic in topics
        }

    def matching(self, _criteria: Filter) -> NoReturn:
        """Raises InvalidInputError: facets are counted in a store."""
        raise InvalidInputError(
            "A graph does not count facets.", "Search one store, or leave them out."
        )

    # The matching entries.

    def matches(self, criteria: Filter, query: SearchQuery) -> Matches:
        """Like `SearchEngine.matches`. Of more than 2,000 entries, those that mention
        something are not compared."""
        self._restrict(criteria)
        in_title = [
            f"CASE WHEN e.{word_field('title')} CONTAINS $n{i} THEN 1 ELSE 0 END"
            for i in range(len(query.terms))
        ]
        count = (query.by_title and " + ".join(in_title)) or "0"
        ranks = (
            f"{_TOPICS}, {count} AS matched WITH r, t, e, topic, CASE matched "
            f"WHEN 0 THEN 0 WHEN {len(query.terms)} THEN {ALL_IN_TITLE} "
            f"ELSE {SOME_IN_TITLE} END AS rank "
        )
        statement = self._having(query.terms)
        values = statement.values | {
            "keys": self._repository_keys(),
            "upto": query.newest,
        }
        following = ["e.id <= $upto"] if query.newest else []
        upto = _where(following)
        if query.behind is not None:
            rank, entry_id, topic = query.behind
            values |= {"rank": rank, "behind": entry_id, "topic": topic}
            following.append(
                "(rank < $rank OR (rank = $rank AND (e.id < $behind OR "
                "(e.id = $behind AND topic < $topic))))"
            )
        order = "ORDER BY rank DESC, e.id DESC, topic DESC"
        if query.about.needs_text:
            rows = self._graph.rows(
                f"{statement.text} {ranks} RETURN {_ROWS}, rank {order} LIMIT {_MOST}",
                **values,
            )
            every = [
                Match(rank, entry_id, topic)
                for (topic, entry_id), rank in self._keep(rows)
                if query.about.fit(self._found[topic, entry_id].numbered.entry)
            ]
            remaining = [match for match in every if query.follows(match)]
            return Matches(remaining, topic_counts(match.topic for match in every))
        counted = self._graph.rows(
            f"{statement.text} WITH r, t, e {upto} RETURN r.id, t.topic, count(e)",
            **values,
        )
        rows = self._graph.rows(
            f"{statement.text} {ranks} {_where(following)} RETURN {_ROWS}, rank "
            f"{order} LIMIT {query.limit + 1 if query.limit else _MOST}",
            **values,
        )
        best = [Match(rank, id_, topic) for (topic, id_), rank in self._keep(rows)]
        keys = self._repository_keys()
        topics = {
            f"{keys[repository]}{_BETWEEN}{topic}": int(number)
            for repository, topic, number in counted
        }
        return Matches(best, topics)

    def counts(self, criteria: Filter, query: LooseQuery) -> TermCounts:
        """Like `SearchEngine.counts`."""
        self._restrict(criteria)
        counts = (self.count(term, query.required) for term in query.terms)
        return TermCounts(self._thread_count(), tuple(counts))

    def candidates(self, criteria: Filter, query: LooseQuery) -> Matches:
        """Like `SearchEngine.candidates`."""
        self._restrict(criteria)
        weighted = [(i, weight) for i, weight in enumerate(query.weights) if weight]
        if not weighted:
            return Matches([], {})
        statement = self._having(query.required, [query.terms[i] for i, _ in weighted])
        values = statement.values | {
            "keys": self._repository_keys(),
            "upto": query.newest,
        }
        values |= {f"w{i}": query.terms[i].needle for i, _ in weighted}
        parts = [_rough_score(query.terms[i], f"w{i}", n) for i, n in weighted]
        scored = (
            f"{statement.text} WITH r, t, e, {' + '.join(parts)} AS score "
            f"WHERE score > 0 {_TOPICS}, score "
        )
        order = f"RETURN {_ROWS}, score ORDER BY score DESC, e.id DESC, topic DESC"
        if self._about.needs_text:
            rows = self._graph.rows(f"{scored} {order} LIMIT {_MOST}", **values)
            fitting = [
                Match(score, entry_id, topic)
                for (topic, entry_id), score in self._keep(rows)
                if self._about.fit(self.entry(topic, entry_id).entry)
                and query.is_old_enough(entry_id)
            ]
            return Matches(fitting[: query.limit or None], {}, total=len(fitting))
        total = self._counted.get(query.terms[weighted[0][0]], -1)
        if len(weighted) > 1 or total < 0:
            ((total,),) = self._graph.rows(f"{scored} RETURN count(e)", **values)
        old_enough = _where(["e.id <= $upto"] if query.newest else [])
        rows = self._graph.rows(
            f"{scored} {old_enough} {order} LIMIT {query.limit or _MOST}", **values
        )
        best = [Match(score, i, topic) for (topic, i), score in self._keep(rows)]
        return Matches(best, {}, total=int(total))

    def count(self, term: Term, required: Sequence[Term]) -> int:
        """Returns how many entries have a term and the required ones. Of a word that is
        in very many entries, the index's own count is enough, unless some of them are
        hidden."""
        statement = self._having((term, *required))
        is_anything = self._scope == Scope() and self._about == Mentions()
        count = 0
        if is_anything and not required and len(term.words) == 1 and not term.field:
            words_of_term = statement.values["words"]
            ((count,),) = self._graph.rows(
                f"{_INDEX} YIELD node RETURN count(node)", words=words_of_term
            )
        if count <= COMMON:
            ((count,),) = self._graph.rows(
                f"{statement.text} RETURN count(e)", **statement.values
            )
        self._counted[term] = int(count)
        return int(count)

    def _thread_count(self) -> int:
        """How many threads are searched."""
        ((count,),) = self._graph.rows(
            "MATCH (t:Thread)-[:IN]->(r:Repository) "
            f"{_where(self._scope.conditions())} RETURN count(t)",
            **self._scope.values(),
        )
        return int(count)

    def entry(self, topic: str, entry_id: str) -> Numbered:
        """Like `SearchEngine.entry`: the entry as it was found."""
        return self._found[topic, entry_id].numbered

    def thread_words(self, topic: str) -> ThreadWords:
        """Like `SearchEngine.thread_words`, of a found entry."""
        return next(
            entry.thread for (own, _), entry in self._found.items() if own == topic
        )

    # The meaning.

    def nearest(self, _query: str, _topics: object, newest: str) -> Nearness:
        """Like `MeaningSource.nearest`, of the threads of the last question."""
        if self._vector_of is None:
            return Nearness({})
        vector = self._vector_of()
        if not vector.name:
            return Nearness({}, problem=vector.problem)
        conditions = [*self._conditions(), *(["e.id <= $upto"] if newest else [])]
        rows: list[list[Any]] = []
        for step in self._steps(vector.name, conditions):
            rows = self._graph.rows(
                f"{step} RETURN {_ROWS}, 1.0 - distance "
                f"ORDER BY distance, e.key LIMIT {_NEAREST}",
                **{"vector": list(vector.numbers), "upto": newest, **self._values()},
            )
            if len(rows) >= _NEAREST:
                break
        scores = {name: float(score) for name, score in self._keep(rows)}
        return Nearness(scores, max(0.0, min(scores.values(), default=0.0)))

    def _steps(self, name: str, conditions: Sequence[str]) -> list[str]:
        """The beginnings of statements for the entries nearest to a vector, until one
        finds enough."""
        around = "<-[:MEANS]-(e:Entry)<-[:HAS]-(t:Thread)-[:IN]->(r:Repository)"
        distance = f"vec.cosineDistance(v.{name}, vecf32($vector)) AS distance"
        # The index cannot be restricted to some of the entries.
        of_index = (
            f"CALL db.idx.vector.queryNodes('Vector', '{name}', %d, vecf32($vector)) "
            f"YIELD node AS v, score AS distance MATCH (v){around} {_where(conditions)}"
        )
        if not conditions:
            return [of_index % _NEAREST]
        known = f"v.{name} IS NOT NULL"
        several = of_index % _NEAREST_OF_SOME[1]
        in_question = [known, *conditions]
        if self._scope.repositories is not None:
            several = (
                f"MATCH (v:Vector) WHERE v.repository IN $repositories AND {known} "
                f"WITH v, {distance} ORDER BY distance LIMIT {_NEAREST_OF_SOME[1]} "
                f"MATCH (v){around} {_where(conditions)}"
            )
            in_question.insert(0, "e.repository IN $repositories")
        every = (
            f"MATCH (v:Vector){around} {_where(in_question)} WITH r, t, e, {distance}"
        )
        return [of_index % _NEAREST_OF_SOME[0], several, every]

    # What is asked.

    def _repository_keys(self) -> dict[str, str]:
        """A key for each repository that the caller may see: short, and without
        information about a machine."""
        if self._keys is None:
            scope = Scope(self._scope.repositories)
            rows = self._graph.rows(
                f"MATCH (r:Repository) {_where(scope.conditions())} "
                "RETURN DISTINCT r.id, r.name",
                **scope.values(),
            )
            self._keys = {own: _key(own) for own, _ in rows}
            self._names |= {_key(own): name for own, name in rows}
        return self._keys

    def _having(
        self, required: Iterable[Term], any_of: Sequence[Term] = ()
    ) -> _Statement:
        """The entries in question with all of the required terms; with ``any_of``,
        those in which the index finds one of these."""
        required = tuple(required)
        # The index has no words of authors: `Mentions.fit` compares those.
        mentioned = [term for term in self._about.terms if not term.field]
        conditions = [_has(term, f"n{i}") for i, term in enumerate(required)]
        values = {f"n{i}": term.needle for i, term in enumerate(required)}
        values |= self._values()
        around = "MATCH (e)<-[:HAS]-(t:Thread)-[:IN]->(r:Repository)"
        where = _where([*conditions, *self._conditions()])
        if any_of:
            values["words"] = "|".join(_index_words(any_of, is_all=False))
        elif required or mentioned:
            values["words"] = " ".join(
                _index_words((*required, *mentioned), is_all=True)
            )
        else:
            label = ":Decision" if self._about.kind == "decision" else ""
            return _Statement(f"MATCH (e:Entry{label}) WITH e {around} {where}", values)
        return _Statement(f"{_INDEX} YIELD node AS e {around} {where}", values)

    def _conditions(self) -> list[str]:
        about, author = self._about, word_field("author")
        parts = {
            "e.branch = $branch": about.branch,
            "e.kind = $kind": about.kind,
            "e.severity IN $severities": about.severity,
            "e.id > $since": about.since,
            "e.id <= $until": about.until,
            f"all(name IN $authors WHERE e.{author} CONTAINS name)": about.author,
        }
        return [
            *self._scope.conditions(),
            *(condition for condition, value in parts.items() if value),
        ]

    def _values(self) -> dict[str, Any]:
        """The values of the conditions; unused ones do no harm."""
        about = self._about
        return {
            **self._scope.values(),
            "branch": about.branch,
            "kind": about.kind,
            "severities": list(at_least(about.severity)) if about.severity else [],
            "since": about.since,
            "until": about.until,
            "authors": [
                f" {name} " for name in words.plain_words(about.author).split()
            ],
        }

    def _keep(self, rows: Sequence[Sequence[Any]]) -> list[tuple[EntryName, Any]]:
        """Keeps the entries in rows of `_ROWS`. Returns the name of each, and the value
        after them."""
        files = self._files([row[7] for row in rows])
        kept = []
        for row in rows:
            repository, _, own_topic, name, topic_words, tag_words, idx, *rest = row
            entry_id, at, author, title, body, mark, prs, commits, *others = rest
            branch, kind, severity, value = others
            topic = f"{self._repository_keys()[repository]}{_BETWEEN}{own_topic}"
            entry = Entry(
                entry_id,
                own_topic,
                author or "",
                at or "",
                title or "",
                body or "",
                pr_refs=tuple(prs or ()),
                commit_refs=tuple(commits or ()),
                file_refs=files.get((repository, entry_id), ()),
                code_branch=branch or "",
                kind=kind or "",
                severity=severity or "",
            )
            # The graph knows only that there are corrections.
            numbered = Numbered(idx, entry, corrections=(mark,) if mark else ())
            thread = ThreadWords(topic_words or "", tag_words or "", name)
            self._found[topic, entry_id] = _FoundEntry(numbered, thread)
            kept.append(((topic, entry_id), value))
        return kept

    def _files(self, ids: Sequence[str]) -> dict[tuple[str, str], tuple[str, ...]]:
        """The files that entries record, by repository and id."""
        rows = self._graph.rows(
            "UNWIND $ids AS id MATCH (e:Entry {id: id})-[:MENTIONS]->(f:File) "
            "RETURN e.repository, e.id, collect(f.path)",
            ids=sorted({*ids}),
        )
        return {(repository, key): tuple(paths) for repository, key, paths in rows}


# The key of each entry's thread.
_TOPICS = f"WITH r, t, e, $keys[r.id] + '{_BETWEEN}' + t.topic AS topic"
_INDEX = "CALL db.idx.fulltext.queryNodes('Entry', $words)"


def _key(repository: str) -> str:
    return f"{crc32(repository.encode()):08x}"


def _index_words(terms: Sequence[Term], *, is_all: bool) -> list[str]:
    """The words to look up in the index. If every word is required, short prefixes are
    left to the conditions, provided that there are other words."""
    texts = []
    for term in terms:
        *whole, final_word = term.words
        texts += whole
        if term.prefix and len(final_word) < _SHORT and is_all and len(terms) > 1:
            continue
        texts.append(f"{final_word}*" if term.prefix else final_word)
    return texts or [f"{term.words[-1]}*" for term in terms]


def _has(term: Term, name: str) -> str:
    """The condition for an entry with a term, whose needle is the value ``name``."""
    return _in_fields((term.field,) if term.field else FIELDS, name)


def _rough_score(term: Term, name: str, weight: int) -> str:
    """The part of `ranking.rough_score` that a term adds."""
    fields = [field for field in PROMINENT_FIELDS if term.field in {"", field}]
    return (
        f"CASE WHEN {_in_fields(fields, name)} THEN {2 * weight} "
        f"WHEN {_has(term, name)} THEN {weight} ELSE 0 END"
    )


def _in_fields(fields: Sequence[str], name: str) -> str:
    parts = (f"e.{word_field(field)} CONTAINS ${name}" for field in fields)
    return f"({' OR '.join(parts) or 'false'})"


def _where(conditions: Sequence[str]) -> str:
    return f"WHERE {' AND '.join(conditions)}" if conditions else ""
