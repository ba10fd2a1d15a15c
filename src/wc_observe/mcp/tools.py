"""The tools: what each one is called, takes, and answers."""

from __future__ import annotations

import functools
from typing import Annotated, Literal

from fastmcp.tools.base import Tool, ToolResult
from pydantic import Field

from wc_core.errors import InvalidInputError
from wc_core.views import updates
from wc_core.views.mentions import Mentions
from wc_core.views.rows import Filter
from wc_core.views.search import Question, search
from wc_observe.answers import entries, health, threads
from wc_observe.answers import search as finding
from wc_observe.answers.entries import EntrySpan
from wc_observe.answers.threads import ListRequest
from wc_observe.calls import CURRENT
from wc_observe.mcp import insighttools, worktreetools
from wc_observe.mcp.toolspec import Offer, as_tool, structured
from wc_observe.open_store import OpenStore, open_store

_TEXTS = {"type": "array", "items": {"type": "string"}}
# Not a list of types: clients that know a single one for each value drop those.
_MAYBE_TEXT = {"anyOf": [{"type": "string"}, {"type": "null"}]}
_HEALTH = {
    "type": "object",
    "properties": {
        "ok": {"type": "boolean"},
        "store": _MAYBE_TEXT,
        "kind": {"type": "string"},
        "exists": {"type": "boolean"},
        "branch": {"type": "string"},
        "threads": {"type": "object"},
        "damaged": {"type": "array", "items": {"type": "object"}},
        "unsettled": {"type": "integer"},
        "sync": {"type": "object"},
        "changes": {"type": "object"},
        "problems": _TEXTS,
        "you": {"type": "string"},
        "versions": {"type": "object"},
    },
    "required": ["ok", "store", "versions"],
}
_WHOAMI = {
    "type": "object",
    "properties": {
        name: {"type": "string"}
        for name in (
            *("you", "agent", "seat", "tag", "source"),
            *("client", "subject", "folder"),
        )
    }
    | {"store": _MAYBE_TEXT, "exists": {"type": "boolean"}},
    "required": ["you", "agent", "source", "client", "folder", "store"],
}
_VOCABULARY = {
    "type": "object",
    "properties": dict.fromkeys(("statuses", "roles", "types", "actions"), _TEXTS),
    "required": ["statuses", "roles", "types", "actions"],
}

Format = Literal["markdown", "json"]
Topic = Annotated[str, Field(description="The thread's topic")]
Cursor = Annotated[str, Field(description="From the answer before, to go on")]
Ball = Annotated[
    str, Field(description='Whose ball: "me", "anyone" (free), or a name like "Codex"')
]
Status = Literal["", "OPEN", "IN_REVIEW", "BLOCKED", "CLOSED"]
Many = Annotated[int, Field(ge=1, le=500)]

# A client waits no longer for words that are still being read; the answer then
# says how many of them are.
_INDEX_SECONDS = 2.0


def _desk() -> OpenStore:
    return open_store(CURRENT.get())


def health_() -> ToolResult:
    """Answer `health`."""
    fields = health.health(CURRENT.get())
    return ToolResult(health.health_text(fields), structured_content=fields)


def whoami() -> ToolResult:
    """Answer `whoami`."""
    fields = health.whoami(CURRENT.get())
    return ToolResult(health.whoami_text(fields), structured_content=fields)


def list_vocabulary() -> ToolResult:
    """Answer `list_vocabulary`."""
    fields = health.vocabulary()
    return ToolResult(health.vocabulary_text(fields), structured_content=fields)


def list_threads(
    open_only: Annotated[bool, Field(description="Leave out CLOSED ones")] = False,  # noqa: FBT002
    ball: Ball = "",
    limit: Many = 50,
    cursor: Cursor = "",
    format: Format = "markdown",  # noqa: A002
) -> ToolResult:
    """Answer `list_threads`."""
    desk = _desk()
    wanted = ListRequest(Filter(open_only, ball), limit, cursor)
    if format == "markdown":
        return ToolResult(threads.as_markdown(desk, wanted))
    fields = threads.as_json(desk, wanted)
    return structured(fields, len(fields["threads"]), "threads")


def read_thread(
    topic: Topic,
    from_entry: Annotated[
        int, Field(description="Number of the first entry; -10: the last ten")
    ] = 0,
    limit: Many = 100,
    summary_only: Annotated[  # noqa: FBT002
        bool, Field(description="A line for each entry, without bodies")
    ] = False,
    format: Format = "markdown",  # noqa: A002
) -> ToolResult:
    """Answer `read_thread`."""
    desk = _desk()
    part = entries.part(desk, topic, EntrySpan(from_entry, limit, summary_only))
    if format == "markdown":
        return ToolResult(entries.part_markdown(desk, part))
    fields = entries.part_json(desk, part)
    return structured(fields, len(part.entries), "entries")


def get_entry(
    topic: Topic,
    index: Annotated[
        int | None, Field(description="Its number; -1: the last one")
    ] = None,
    entry_id: Annotated[str, Field(description="Or its id")] = "",
    offset: Annotated[
        int, Field(ge=0, description="Where to go on in a body over 100,000 characters")
    ] = 0,
    format: Format = "markdown",  # noqa: A002
) -> ToolResult:
    """Answer `get_entry`."""
    if (index is None) == (not entry_id):
        raise InvalidInputError(
            "One entry is named by its number or by its id.",
            "Give index (-1: the last one) or entry_id, not both.",
        )
    desk = _desk()
    thread, shown = entries.entry(desk, topic, index, entry_id, offset)
    if format == "markdown":
        return ToolResult(entries.entry_markdown(desk, thread, shown))
    return structured(entries.entry_json(desk, thread, shown), 1, "entries")


def list_updates(
    since: Annotated[
        str, Field(description="A time, an age (90m, 3h, 2d) or an entry's id")
    ] = "1d",
    limit: Many = 30,
    digest: Annotated[  # noqa: FBT002
        bool, Field(description="Per thread: what it came to, latest first")
    ] = False,
    format: Format = "markdown",  # noqa: A002
) -> ToolResult:
    """Answer `list_updates`."""
    desk = _desk()
    now = CURRENT.get().now_ms()
    if digest:
        told = updates.digest(desk.overview, since, now, limit)
        if format == "markdown":
            return ToolResult(finding.digest_markdown(desk, since, told))
        return structured(
            finding.digest_json(desk, since, told), len(told.threads), "threads"
        )
    found = updates.updates(desk.overview, since, now, limit)
    if format == "markdown":
        return ToolResult(finding.updates_markdown(desk, since, found))
    fields = finding.updates_json(desk, since, found)
    return structured(fields, len(found.entries), "entries")


def search_threads(  # noqa: PLR0913, PLR0917 (what a client may say)
    query: Annotated[
        str,
        Field(
            description="Beginnings of words, all of which must occur; "
            '"a phrase"; title:, body:, topic: or author: before one'
        ),
    ] = "",
    file: Annotated[str, Field(description="About this file or folder")] = "",
    pr: Annotated[int, Field(ge=0, description="About this pull request")] = 0,
    commit: Annotated[str, Field(description="About this commit")] = "",
    branch: Annotated[str, Field(description="Written on this branch")] = "",
    status: Annotated[Status, Field(description="Of the thread")] = "",
    ball: Ball = "",
    limit: Many = 20,
    cursor: Cursor = "",
    format: Format = "markdown",  # noqa: A002
) -> ToolResult:
    """Answer `search_threads`."""
    desk = _desk()
    about = Mentions(file, pr, commit, branch)
    where = Filter(ball=ball, status=status)
    question = Question(query, where, limit, cursor, about)
    question.search_query()  # what is wrong with it is said before anything is read
    engine = desk.live.engine(desk.overview, _INDEX_SECONDS)
    found = search(engine, desk.overview, question)
    if format == "markdown":
        return ToolResult(finding.hits_markdown(desk, question, found))
    fields = finding.hits_json(desk, question, found)
    return structured(fields, len(found.hits), "entries")


def reindex() -> ToolResult:
    """Answer `reindex`."""
    return ToolResult(threads.index_page(_desk()))


OFFERS: tuple[Offer, ...] = (
    Offer(
        health_,
        "How the store is: which one, counts of threads, damage, what is not "
        "committed yet, versions. Never fails.",
        _HEALTH,
    ),
    Offer(
        whoami,
        "The name you go by in threads, which rule gave it, and your store.",
        _WHOAMI,
    ),
    Offer(
        list_threads,
        "List threads, the latest move first: status, who holds the ball (whose "
        'move it is), what is new for you. Start with ball="me", open_only=true.',
    ),
    Offer(
        read_thread,
        "Read a thread's entries in order. Bodies over 4,000 characters are cut; "
        "get_entry has all of them. Begin with summary_only where it is long.",
    ),
    Offer(get_entry, "Read one entry, whole, by its number or its id."),
    Offer(
        list_updates,
        "What was written since a moment, in all threads, oldest first. To catch "
        "up: digest=true.",
    ),
    Offer(
        search_threads,
        "Find entries by words in title, body, author or topic, or by what they are "
        "about, best first.",
    ),
    Offer(
        reindex,
        "The index page, computed now (nothing is written): your moves, free "
        "balls, in review, waiting on others.",
    ),
    Offer(
        list_vocabulary,
        "The statuses, roles, entry types and actions there are.",
        _VOCABULARY,
    ),
)


# Each family of tools has a module of its own.
ALL: tuple[Offer, ...] = (*OFFERS, *worktreetools.OFFERS, *insighttools.OFFERS)


@functools.cache
def all_tools(*, here: bool = True) -> tuple[Tool, ...]:
    """Every tool, ready to be added to any server: to make them is most of what
    it takes to make one. Those that tell of worktrees only ``here``, on their
    own machine."""
    return tuple(as_tool(one) for one in ALL if here or one not in worktreetools.OFFERS)
