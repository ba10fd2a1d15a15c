"""The tools about threads and the store: their names, arguments and answers."""

from __future__ import annotations

from typing import Annotated, Literal

from fastmcp.tools.base import ToolResult
from pydantic import BeforeValidator, Field

from wc_core.base.errors import InvalidInputError
from wc_core.base.times import milliseconds, since_id
from wc_core.base.values import NamedTuple
from wc_core.ledger.threads import vocabulary
from wc_core.lookup.mentions import Mentions
from wc_core.reading.views import updates
from wc_core.reading.views.rows import Filter
from wc_core.reading.views.search.answers import search, threads_about
from wc_core.reading.views.search.query import Question
from wc_observe.answers import entries, threads
from wc_observe.answers import search as search_answers
from wc_observe.answers.entries import EntrySpan
from wc_observe.answers.everywhere import search_everywhere, visible_reason
from wc_observe.answers.health import (
    health_fields,
    health_text,
    vocabulary_fields,
    vocabulary_text,
    whoami_fields,
    whoami_text,
)
from wc_observe.answers.threads import ListRequest
from wc_observe.callers.calls import CURRENT
from wc_observe.callers.open_store import OpenStore, open_store
from wc_observe.mcp.forms import json_result, markdown_result, short_result
from wc_observe.mcp.refusals import given_arguments, require_only, short_repr
from wc_observe.mcp.toolspec import ToolSpec

Format = Literal["markdown", "json"]
Ball = Annotated[
    str, Field(description='Whose ball: "me", "anyone" (free), or a name like "Codex"')
]
WrittenOn = Annotated[str, Field(description="Written on this branch")]
Status = Literal["", "OPEN", "IN_REVIEW", "BLOCKED", "CLOSED"]
History = Annotated[bool, Field(description="Amended texts as first written")]
Many = Annotated[int, Field(ge=1, le=500)]

# How long a client waits for an index that is being built. After that, the answer says
# how much is done.
_SINCE = "1d"


# What a page of a thread takes.
_PAGE_ARGUMENTS = (
    *("topic", "from_entry", "limit", "summary_only", "history", "code_branch"),
    "kind",
)


def _as_text(value: object) -> object:
    """Returns the number of an entry as text; models write both."""
    return str(value) if type(value) is int else value


def _current_store() -> OpenStore:
    return open_store(CURRENT.get())


def health(
    vocabulary: Annotated[  # noqa: FBT002
        bool, Field(description="Also list statuses, roles, types, kinds, actions")
    ] = False,
) -> ToolResult:
    """Answer `health`."""
    fields = health_fields(CURRENT.get())
    text = health_text(fields)
    if vocabulary:
        words = vocabulary_fields()
        fields |= {"vocabulary": words}
        text += vocabulary_text(words)
    return short_result(text, fields)


def whoami() -> ToolResult:
    """Answer `whoami`."""
    fields = whoami_fields(CURRENT.get())
    return short_result(whoami_text(fields), fields)


def list_threads(  # noqa: PLR0913, PLR0917 (what a client may say)
    open_only: Annotated[bool, Field(description="Leave out CLOSED ones")] = False,  # noqa: FBT002
    ball: Ball = "",
    ready: Annotated[  # noqa: FBT002
        bool, Field(description="Only what you can start: yours or free, not waiting")
    ] = False,
    file: Annotated[str, Field(description="About this file or folder")] = "",
    code_branch: Annotated[
        str, Field(description="Threads of a branch, named after it, or held there")
    ] = "",
    tag: Annotated[str, Field(description="With this tag; several: a,b")] = "",
    summaries: Annotated[  # noqa: FBT002
        bool, Field(description="With a summary of each last entry")
    ] = False,
    limit: Many = 50,
    cursor: str = "",
    format: Format = "markdown",  # noqa: A002
) -> ToolResult:
    """Answer `list_threads`."""
    store = _current_store()
    criteria = Filter(open_only, ball, branch=code_branch, tags=_tags(tag))
    criteria = criteria._replace(ready=ready)
    request = ListRequest(criteria, limit, cursor, summaries=summaries)
    if file:
        about = Mentions(file).checked()  # raises before anything is read
        engine = store.engine()
        topics, searched = threads_about(engine, about)
        criteria = criteria._replace(topics=topics)
        request = request._replace(criteria=criteria, searched=searched)
    if format == "markdown":
        return markdown_result(threads.as_markdown(store, request))
    fields = threads.as_json(store, request)
    return json_result(fields)


def read_thread(  # noqa: PLR0913, PLR0917 (what a client may say)
    topic: str,
    entry: Annotated[
        str,
        BeforeValidator(_as_text),
        Field(description='Only this one, whole: "#3", "-1" (the last) or an id'),
    ] = "",
    from_entry: Annotated[
        int, Field(description="Number of the first entry; -10: the last ten")
    ] = 0,
    limit: Many = 100,
    summary_only: Annotated[  # noqa: FBT002
        bool, Field(description="Summaries instead of bodies")
    ] = False,
    history: History = False,  # noqa: FBT002
    code_branch: WrittenOn = "",
    kind: str = "",
    offset: Annotated[
        int, Field(ge=0, description="Where to go on in a very long entry")
    ] = 0,
    why_not_ready: Annotated[  # noqa: FBT002
        bool, Field(description="Only what it waits for, and who has that ball")
    ] = False,
    format: Format = "markdown",  # noqa: A002
) -> ToolResult:
    """Answer `read_thread`."""
    arguments = given_arguments(read_thread, locals())
    if why_not_ready:
        form = "read_thread with why_not_ready"
        require_only(arguments, form, "topic", "why_not_ready")
        return _chain_result(topic, format)
    if entry:
        names = ("topic", "entry", "offset", "history")
        require_only(arguments, "read_thread with entry", *names)
        return _entry_result(topic, entry, offset, format, history=history)
    require_only(arguments, "read_thread without entry", *_PAGE_ARGUMENTS)
    kind = vocabulary.kind(kind)
    store = _current_store()
    span = EntrySpan(from_entry, limit, summary_only, history, branch=code_branch)
    span = span._replace(kind=kind)
    page = entries.entry_page(store, topic, span)
    if format == "markdown":
        return markdown_result(entries.page_markdown(store, page))
    fields = entries.page_json(store, page)
    return json_result(fields)


def _entry_result(
    topic: str, reference: str, offset: int, form: Format, *, history: bool
) -> ToolResult:
    store = _current_store()
    thread, entry = entries.find_entry(store, topic, reference, offset, history=history)
    if form == "markdown":
        return markdown_result(entries.entry_markdown(store, thread, entry))
    return json_result(entries.entry_json(store, thread, entry))


def _chain_result(topic: str, form: Format) -> ToolResult:
    store = _current_store()
    chain = threads.chain(store, topic)
    if form == "markdown":
        return markdown_result(threads.chain_markdown(chain))
    fields = threads.chain_json(store, chain)
    return json_result(fields)


def list_updates(
    since: Annotated[
        str, Field(description="A time, an age (90m, 3h, 2d) or an entry's id")
    ] = _SINCE,
    since_iso: str = "",
    limit: Many = 50,
    code_branch: WrittenOn = "",
    format: Format = "markdown",  # noqa: A002
) -> ToolResult:
    """Answer `list_updates`."""
    store = _current_store()
    now = CURRENT.get().now_ms()
    since, branch = _start_time(since, since_iso), code_branch.strip()
    open_engine = store.engine
    news = updates.updates(
        store.overview, since, now, limit, branch=branch, open_engine=open_engine
    )
    if format == "markdown":
        return markdown_result(search_answers.updates_markdown(store, since, news))
    return json_result(search_answers.updates_json(store, since, news))


def _start_time(since: str, since_iso: str) -> str:
    """Returns where the updates start: ``since_iso``, which must be a time, otherwise
    ``since``."""
    if not since_iso:
        return since
    if since != _SINCE:
        raise InvalidInputError(
            "since and since_iso exclude each other.", "Use one of them."
        )
    if milliseconds(since_iso) is None:
        raise InvalidInputError(
            f"since_iso cannot be {short_repr(since_iso)}.",
            "since_iso: a time such as 2026-01-31T12:00:00Z; an age or an id: since",
        )
    return since_iso


def _tags(text: str) -> tuple[str, ...]:
    """Returns the tags in ``a,b``."""
    return tuple(text.replace(",", " ").split())


def _floor_id(text: str) -> str:
    """Returns the id that a time, age or id stands for; empty for nothing."""
    return since_id(text, CURRENT.get().now_ms()) if text.strip() else ""


def search_threads(  # noqa: PLR0913, PLR0917 (what a client may say)
    query: Annotated[
        str,
        Field(
            description="Words, or their beginnings; "
            '"a phrase"; title:, body:, topic:, author: or tag: before one'
        ),
    ] = "",
    words: Annotated[
        Literal["auto", "all", "any", "phrase"],
        Field(description="auto: all words; if few match, also some"),
    ] = "auto",
    sort: Literal["best", "newest"] = "best",
    file: Annotated[str, Field(description="About this file or folder")] = "",
    pr: Annotated[int, Field(ge=0)] = 0,
    commit: str = "",
    branch: str = "",
    kind: Annotated[str, Field(description="decision, warning, …")] = "",
    severity: Annotated[
        str, Field(description="At least: low, medium, high or critical")
    ] = "",
    author: str = "",
    since: Annotated[str, Field(description="After a time, age or entry's id")] = "",
    until: str = "",
    status: Status = "",
    ball: str = "",
    tag: Annotated[str, Field(description="Several: a,b")] = "",
    limit: Many = 50,
    cursor: str = "",
    scope: Annotated[
        Literal["store", "all"],
        Field(description="all: every repository, on some servers"),
    ] = "store",
    facets: Annotated[  # noqa: FBT002
        bool, Field(description="Count hits by author, kind, …")
    ] = False,
    format: Format = "markdown",  # noqa: A002
) -> ToolResult:
    """Answer `search_threads`."""
    about = Mentions(
        *(file, pr, commit, branch, kind, severity, author),
        *(_floor_id(since), _floor_id(until)),
    )
    criteria = Filter(ball=ball, status=status, tags=_tags(tag))
    question = Question(query, criteria, limit, cursor, about, words, sort)
    call = SearchCall(question, facets, format)
    if scope == "all":
        return search_all(call)
    return search_store(_current_store(), call)


def reindex() -> ToolResult:
    """Answer `reindex`."""
    return ToolResult(threads.index_page(_current_store()))


SPECS: tuple[ToolSpec, ...] = (
    ToolSpec(
        health,
        "The store's state: which one, counts of threads, damage, what is not "
        "committed yet, versions. Never fails.",
    ),
    ToolSpec(whoami, "Your name in threads, the rule that gave it, and your store."),
    ToolSpec(
        list_threads,
        "List threads, latest move first: status, who holds the ball (whose "
        'move it is), what is new for you. Start with ball="me", open_only=true.',
    ),
    ToolSpec(
        read_thread,
        "Read a thread's entries in order. Bodies over 4,000 characters are cut, but "
        "not with entry. If it is long, begin with summary_only.",
    ),
    ToolSpec(
        list_updates,
        "What was written since a given time, in all threads, oldest first.",
    ),
    ToolSpec(
        search_threads,
        "Find entries by their words, or by what they are about, best first; of a "
        "kind without words, the latest first: "
        'kind="decision".',
    ),
    ToolSpec(
        reindex,
        "The index page, computed now (nothing is written): your moves, free "
        "balls, in review, waiting on others.",
    ),
)


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
    hits = search(store.engine(), question)
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
