"""Answers about all repositories. They come from a graph or, if there is none or it is
unavailable, from each store that the caller can reach. Each answer says from which."""

from __future__ import annotations

import functools
import os
from binascii import crc32
from typing import TYPE_CHECKING, Any

from wc_core.base.errors import WcError
from wc_core.base.names import Directory
from wc_core.base.phrases import counted
from wc_core.base.text import one_line
from wc_core.base.values import NamedTuple
from wc_core.people.identity.viewer import Viewer
from wc_core.reading.graphdb.identity import repository_of
from wc_core.reading.views.search.answers import search
from wc_core.reading.views.search.together import Together, own_topic
from wc_observe.answers.quoting import (
    NOTICE,
    block,
    clean_json,
    title,
    word,
)
from wc_observe.callers.open_store import caller_identity, open_store
from wc_observe.callers.reach import reachable_stores
from wc_observe.stores.graphdb.nearness import query_vector
from wc_observe.stores.graphdb.reader import GraphAwayError
from wc_observe.stores.graphdb.searching import SearchedGraph

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from wc_core.reading.meaning.embedding import QueryAnswers
    from wc_core.reading.views.search.answers import Hits
    from wc_core.reading.views.search.query import Question, SearchEngine
    from wc_observe.callers.calls import Call
    from wc_observe.callers.reach import Reachable
    from wc_observe.stores.graphdb.reader import GraphReader

_TITLE_WIDTH = 100
_WIDE = 200
GRAPH, STORES = "graph", "stores"


class Origin(NamedTuple):
    """The source of an answer: `GRAPH` or `STORES`, and why the graph was not used."""

    source: str
    problem: str = ""

    def to_json(self) -> dict[str, str]:
        """Returns the answer's fields about its source."""
        problem = {"problem": self.problem} if self.problem else {}
        return {"source": self.source} | problem

    @property
    def line(self) -> str:
        """Returns the line about its source in a text answer."""
        if not self.problem:
            return f"from the {self.source}\n"
        problem = word(self.problem, 300)
        return f"from the stores, because the graph is unavailable: {problem}\n"


def away(call: Call, error: GraphAwayError) -> Origin:
    """Returns the origin of an answer without the graph. Callers over a network do not
    learn where the graph is."""
    return Origin(STORES, "it cannot be used now" if call.store_name else str(error))


def visible_reason(call: Call, reason: str) -> str:
    """Returns why a search went by words alone. It may name a server, or the file with
    the preferences of the person who runs this one: callers over a network only learn
    that there is a reason."""
    return "meaning cannot be used now" if reason and call.store_name else reason


class PlacedHit(NamedTuple):
    """A hit, with the name of its repository."""

    repository: str
    fields: dict[str, Any]


class PlacedHits(NamedTuple):
    """The hits in all repositories, best first. ``partial`` and ``near`` count those
    with only some of the words and with none, ``more_than`` is what precedes the
    total, see `Hits`. ``unreadable`` are
    repositories and threads that could not be searched. ``cursor`` gets the next
    page."""

    hits: tuple[PlacedHit, ...]
    total: int
    origin: Origin
    partial: int = 0
    unreadable: tuple[str, ...] = ()
    cursor: str = ""
    near: int = 0
    by_words: str = ""
    more_than: str = ""

    def to_json(self, query: str) -> dict[str, Any]:
        """Returns the search shape, each hit with its repository."""
        fields: dict[str, Any] = {
            "scope": "all",
            **self.origin.to_json(),
            "query": query,
            "total": self.total,
            "hits": [{"repository": hit.repository, **hit.fields} for hit in self.hits],
        }
        if self.more_than:
            fields["more_than_total"] = True
        if self.partial:
            fields["partial"] = self.partial
        if self.near:
            fields["near"] = self.near
        if self.by_words:
            fields["by_words"] = self.by_words
        if self.cursor:
            fields |= {"cursor": self.cursor, "truncated": True}
        if self.unreadable:
            fields["unreadable"] = list(self.unreadable)
        return dict(clean_json(fields))

    def to_markdown(self, query: str) -> str:
        """Returns two lines for each hit: where it is, and the words around the
        match."""
        visible = len(self.hits)
        shown_of = f"{visible} of " if visible < self.total else ""
        condition = f" with {title(query, _TITLE_WIDTH)}" if query.strip() else ""
        entries = self.more_than + counted(self.total, "entry", "entries")
        some = f", {self.partial} with some of the words" if self.partial else ""
        some += f" or by meaning ({self.near})" if self.near else ""
        order = "best first" if query.strip() else "latest first"
        parts = [
            f"{shown_of}{entries}{condition}{some}, {order}, in all repositories\n"
        ]
        parts += [self.origin.line, *([f"{NOTICE}\n"] if visible else [])]
        for repository, hit in self.hits:
            parts.append(
                f"- {word(repository, _WIDE)}: {word(hit['topic'], _WIDE)} entry "
                f"{hit['idx']} | {word(hit['at'])} | author: "
                f"{word(hit['author'] or 'unknown')} | "
                f"{title(hit['title'], _TITLE_WIDTH)}"
                f"{_match_kind(hit)}\n"
            )
            parts.append(block(one_line(hit["snippet"])))
        if self.by_words:
            parts.append(f"by words alone: {one_line(self.by_words)}\n")
        if self.cursor:
            parts.append(f'truncated: the next ones with cursor="{self.cursor}"\n')
        if self.unreadable:
            names = ", ".join(word(name, _WIDE) for name in self.unreadable)
            parts.append(f"could not be searched: {names}\n")
        return "".join(parts)


def _match_kind(hit: Mapping[str, Any]) -> str:
    if hit.get("near"):
        return " | by meaning"
    return " | some words" if hit.get("partial") else ""


def search_everywhere(call: Call, question: Question) -> PlacedHits:
    """Returns the matches in all repositories that the caller may see. Raises
    InvalidInputError for a query without words, and for a cursor of another search."""
    question.search_query()  # raises before any search
    if call.graph is None:
        return _searched_stores(call, question, Origin(STORES))
    try:
        return _searched_graph(call, call.graph, question)
    except GraphAwayError as error:
        return _searched_stores(call, question, away(call, error))


def _searched_graph(call: Call, graph: GraphReader, question: Question) -> PlacedHits:
    """The hits in a graph. Raises GraphAwayError, and InvalidInputError for a cursor of
    another search."""
    source = SearchedGraph(
        graph,
        caller_viewer(call),
        allowed_repositories(call),
        question.search_query().about,
        functools.partial(query_vector, graph, question.query, call.env),
    )
    hits = search(source, question)
    return _placed(hits, source.repository_of, Origin(GRAPH))


def caller_viewer(call: Call) -> Viewer:
    """Returns the caller, with the aliases of their own store if there is one."""
    try:
        return open_store(call).viewer
    except WcError:
        return Viewer(caller_identity(call), Directory())


def allowed_repositories(call: Call) -> tuple[str, ...] | None:
    """Returns the ids of the repositories that the caller may see; ``None`` means all,
    on this machine."""
    if not call.store_name:
        return None
    return tuple(repository_id(store) for store in reachable_stores(call))


def repository_id(store: Reachable) -> str:
    """Returns the id that a store's repository has in a graph."""
    return repository_of(store.root, store.call.env, os.uname().nodename).id


def _searched_stores(call: Call, question: Question, origin: Origin) -> PlacedHits:
    """The hits in all stores, as if they were a single store."""
    parts: dict[str, SearchEngine] = {}
    names: dict[str, str] = {}
    unreadable = []
    queries: QueryAnswers = {}
    for reachable in reachable_stores(call):
        try:
            store = open_store(reachable.call)
            store.overview.topics(question.criteria)
        except WcError:
            unreadable.append(reachable.name)
            continue
        # Short, the same for every call, and without information about the machine.
        key = f"{crc32(os.path.realpath(store.place.root).encode()):08x}"
        names[key] = reachable.name
        parts[key] = store.engine(queries)
    result = search(Together(parts), question)
    unreadable += [
        f"{names[Together.store_of(topic)]}: {own_topic(topic)}"
        for topic in result.unreadable
    ]
    return _placed(
        result, lambda topic: names[Together.store_of(topic)], origin, unreadable
    )


def _placed(
    hits: Hits,
    repository_of: Callable[[str], str],
    origin: Origin,
    unreadable: Iterable[str] = (),
) -> PlacedHits:
    """Returns the hits with the names of their repositories, which ``repository_of``
    returns for their topics."""
    return PlacedHits(
        tuple(PlacedHit(repository_of(hit.topic), hit.to_json()) for hit in hits.hits),
        hits.total,
        origin,
        hits.partial,
        tuple(unreadable),
        hits.cursor,
        hits.near,
        hits.by_words,
        hits.more_than,
    )
