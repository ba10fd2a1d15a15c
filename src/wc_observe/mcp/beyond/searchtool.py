"""The tool `search_threads`: it searches one store, or all, and fits the result to the
answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from wc_core.base.errors import InvalidInputError
from wc_core.base.values import NamedTuple
from wc_core.reading.views.budget.hits import first_hits
from wc_core.reading.views.search.answers import Hits, search
from wc_observe.answers import search as search_answers
from wc_observe.answers.everywhere import (
    PlacedHits,
    search_everywhere,
    visible_reason,
)
from wc_observe.answers.quoting import json_length
from wc_observe.callers.calls import CURRENT
from wc_observe.mcp.forms import budget_of, json_result, markdown_result

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from fastmcp.tools.base import ToolResult

    from wc_core.reading.views.search.query import Question
    from wc_observe.callers.open_store import OpenStore

_Hits = TypeVar("_Hits", Hits, PlacedHits)


class SearchCall(NamedTuple):
    """A search of one store: with ``facets``, within ``max_tokens`` (0: any).
    ``arguments`` are those that the caller passed."""

    question: Question
    facets: bool
    max_tokens: int
    form: str
    arguments: Mapping[str, Any]


def search_store(store: OpenStore, call: SearchCall) -> ToolResult:
    """Returns the answer of one store. Raises InvalidInputError for an empty query."""
    question, form = call.question, call.form
    question.search_query()  # raises before anything is read
    question = question._replace(counting=call.facets)
    engine, meaning = store.live.engine(), store.meaning
    current = CURRENT.get()

    def ask(most: int) -> Hits:
        limited = question._replace(limit=most)
        hits = search(engine, store.overview, limited, meaning)
        return hits._replace(by_words=visible_reason(current, hits.by_words))

    def text(hits: Hits) -> str:
        named = call.arguments if call.max_tokens else None
        return search_answers.hits_markdown(store, question, hits, named)

    def size(hits: Hits) -> int:
        if form == "markdown":
            return len(text(hits))
        return json_length(search_answers.hits_json(store, question, hits))

    hits = _fitting_hits(call, ask, size)
    if form == "markdown":
        return markdown_result(text(hits))
    fields = search_answers.hits_json(store, question, hits)
    return json_result(fields)


def search_all(call: SearchCall) -> ToolResult:
    """Returns the answer of all stores that the caller may see. Raises
    InvalidInputError if the server was started for one store only, and for arguments
    that such a search does not take."""
    question, form, current = call.question, call.form, CURRENT.get()
    if not current.is_wide:
        raise InvalidInputError(
            'This server has one store, so scope="all" is not available.',
            "Start another: wc-observe --all-stores, or --graph URL",
        )
    if call.facets:
        raise InvalidInputError(
            'scope="all" does not take facets.',
            "Search one store, or leave it out.",
        )

    def ask(most: int) -> PlacedHits:
        hits = search_everywhere(current, question._replace(limit=most))
        return hits._replace(by_words=visible_reason(current, hits.by_words))

    def text(hits: PlacedHits) -> str:
        named = call.arguments if call.max_tokens else None
        return hits.to_markdown(question.query, named)

    def size(hits: PlacedHits) -> int:
        if form == "markdown":
            return len(text(hits))
        return json_length(hits.to_json(question.query))

    hits = _fitting_hits(call, ask, size)
    if form == "markdown":
        return markdown_result(text(hits))
    return json_result(hits.to_json(question.query))


def _fitting_hits(
    call: SearchCall, ask: Callable[[int], _Hits], size: Callable[[_Hits], int]
) -> _Hits:
    """Returns the hits that fit into the answer. Raises InvalidInputError if not even
    one fits."""
    limit = call.question.limit
    if not call.max_tokens:
        return ask(limit)
    in_json = call.form == "json"
    budget = budget_of(call.max_tokens, "search_threads", in_json=in_json)
    return first_hits(ask, limit, size, budget)
