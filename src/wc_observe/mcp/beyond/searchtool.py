"""The tool `search_threads`: it searches one store, or all."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wc_core.base.errors import InvalidInputError
from wc_core.base.values import NamedTuple
from wc_core.reading.views.search.answers import search
from wc_observe.answers import search as search_answers
from wc_observe.answers.everywhere import search_everywhere, visible_reason
from wc_observe.callers.calls import CURRENT
from wc_observe.mcp.forms import json_result, markdown_result

if TYPE_CHECKING:
    from fastmcp.tools.base import ToolResult

    from wc_core.reading.views.search.query import Question
    from wc_observe.callers.open_store import OpenStore


class SearchCall(NamedTuple):
    """A search: with ``facets``; the answer's ``form``."""

    question: Question
    facets: bool
    form: str


def search_store(store: OpenStore, call: SearchCall) -> ToolResult:
    """Returns the answer of one store. Raises InvalidInputError for an empty query."""
    question = call.question
    question.search_query()  # raises before anything is read
    question = question._replace(counting=call.facets)
    hits = search(store.live.engine(), store.overview, question, store.meaning)
    hits = hits._replace(by_words=visible_reason(CURRENT.get(), hits.by_words))
    if call.form == "markdown":
        return markdown_result(search_answers.hits_markdown(store, question, hits))
    return json_result(search_answers.hits_json(store, question, hits))


def search_all(call: SearchCall) -> ToolResult:
    """Returns the answer of all stores that the caller may see. Raises
    InvalidInputError if the server was started for one store only, and for arguments
    that such a search does not take."""
    question, current = call.question, CURRENT.get()
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

    hits = search_everywhere(current, question)
    hits = hits._replace(by_words=visible_reason(current, hits.by_words))
    if call.form == "markdown":
        return markdown_result(hits.to_markdown(question.query))
    return json_result(hits.to_json(question.query))
