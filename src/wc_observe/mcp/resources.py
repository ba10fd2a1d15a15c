"""The resources: the pages of the tools, by address."""

from __future__ import annotations

import asyncio
import functools
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from fastmcp.resources.base import Resource
from fastmcp.resources.template import ResourceTemplate
from fastmcp.server.middleware import Middleware
from mcp_types import Annotations
from pydantic import AnyUrl

from wc_core.base.errors import WcError
from wc_core.ledger.guidance import for_brief
from wc_core.ledger.threads.model import CLOSED, holder_text
from wc_core.reading.views.rows import Filter
from wc_observe.answers import entries
from wc_observe.answers import threads as thread_answers
from wc_observe.answers import worktrees as worktree_answers
from wc_observe.answers.entries import EntrySpan
from wc_observe.answers.quoting import block, title, word
from wc_observe.answers.threads import ListRequest
from wc_observe.callers.calls import CURRENT
from wc_observe.callers.open_store import open_store
from wc_observe.mcp import instructions
from wc_observe.mcp.refusals import guarded

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from fastmcp import FastMCP
    from fastmcp.server.middleware import CallNext, MiddlewareContext
    from mcp_types import ListResourcesRequest

    from wc_core.reading.views.rows import ThreadRow

_MARKDOWN = "text/markdown"
_THREADS = 50
# How many threads clients can offer by name, and how wide their descriptions are.
MAX_LISTED = 100
_TITLE_WIDTH = 100
_NAME_WIDTH = 60


def thread_address(topic: str) -> str:
    """Returns the URI of a thread."""
    return f"watercooler://threads/{quote(topic, safe='')}"


def guide_page() -> str:
    """Returns the guide for models, and the repository's own guidance."""
    call = CURRENT.get()
    guide = instructions.guide(local=not call.store_name)
    try:
        guidance = for_brief(open_store(call).reader.layout)
    except WcError:
        return guide  # without a store; the tools report what is wrong
    text = "\n".join(line for part in guidance for line in part.lines)
    return f"{guide}{instructions.GUIDANCE}{block(text)}" if text else guide


def threads_page() -> str:
    """Returns the first page of the list."""
    return thread_answers.as_markdown(
        open_store(CURRENT.get()), ListRequest(Filter(), _THREADS)
    )


def thread_page(topic: str) -> str:
    """Returns the first page of a thread."""
    store = open_store(CURRENT.get())
    return entries.page_markdown(store, entries.entry_page(store, topic, EntrySpan()))


def entry_page(topic: str, entry: str) -> str:
    """Returns one entry, or the first part of a very long one."""
    store = open_store(CURRENT.get())
    thread, found_entry = entries.find_entry(store, topic, entry, 0)
    return entries.entry_markdown(store, thread, found_entry)


def index_page() -> str:
    """Returns the index page."""
    return thread_answers.index_page(open_store(CURRENT.get()))


def worktrees_page() -> str:
    """Returns what happens in each worktree."""
    return worktree_answers.as_markdown(CURRENT.get())


def loop_page(change_id: str) -> str:
    """Returns the autonomous loop of one change."""
    return worktree_answers.as_markdown(CURRENT.get(), "loops", change_id)


_RESOURCES: tuple[tuple[str, str, Callable[..., str], str], ...] = (
    (
        "instructions",
        "instructions",
        guide_page,
        "How to use threads: read this first.",
    ),
    ("threads", "threads", threads_page, "The threads, latest move first."),
    ("threads/{topic}", "thread", thread_page, "One thread with its entries."),
    (
        "threads/{topic}/{entry}",
        "entry",
        entry_page,
        "One entry, whole, by its number (-1: the last) or its id.",
    ),
    ("index", "index", index_page, "Whose move it is, at a glance."),
    ("worktrees", "worktrees", worktrees_page, "What happens in each worktree."),
    ("loop/{change_id}", "loop", loop_page, "The state of an autonomous loop."),
)


# The library also passes on hints that it does not define itself.
_UNCHANGING = Annotations.model_validate({"readOnlyHint": True, "idempotentHint": True})
# Only for clients on the same machine.
_LOCAL_ONLY = {worktrees_page, loop_page}


def add_resources(server: FastMCP, *, local: bool) -> None:
    """Adds every resource to the server; those about worktrees only if it is
    ``local``."""
    for resource in _all_resources(local=local):
        if isinstance(resource, ResourceTemplate):
            server.add_template(resource)
        else:
            server.add_resource(resource)


@functools.cache
def _all_resources(*, local: bool) -> tuple[Resource | ResourceTemplate, ...]:
    """Returns all resources, ready to be added to any server, like
    `server.all_tools`."""
    resources: list[Resource | ResourceTemplate] = []
    for path, name, answer, description in _RESOURCES:
        if answer in _LOCAL_ONLY and not local:
            continue
        address, fn = f"watercooler://{path}", guarded(answer)
        options: dict[str, Any] = {
            "name": name,
            "description": description,
            "mime_type": _MARKDOWN,
            "annotations": _UNCHANGING,
        }
        resources.append(
            ResourceTemplate.from_function(fn, address, **options)
            if "{" in path
            else Resource.from_function(fn, address, **options)
        )
    return tuple(resources)


class RecentThreads(Middleware):
    """Adds the most recently changed threads to the resources that a client lists, so
    that its user can pick them by name."""

    async def on_list_resources(
        self,
        context: MiddlewareContext[ListResourcesRequest],
        call_next: CallNext[ListResourcesRequest, Sequence[Resource]],
    ) -> Sequence[Resource]:
        """Returns the fixed resources, then at most 100 threads, open ones first."""
        fixed = await call_next(context)
        # Reading ten thousand threads takes a while and must not delay other calls.
        return [*fixed, *await asyncio.to_thread(_recent_threads)]


def _recent_threads() -> list[Resource]:
    try:
        rows = open_store(CURRENT.get()).overview.rows()
    except (WcError, LookupError):
        return []  # reading a fixed resource reports the error
    rows.sort(key=lambda row: row.status == CLOSED)  # stable sort: latest first
    return [_thread_resource(row) for row in rows[:MAX_LISTED]]


def _thread_resource(row: ThreadRow) -> Resource:
    status = word(row.status, _NAME_WIDTH)
    ball = word(holder_text(row.ball), _NAME_WIDTH)
    return Resource(
        uri=AnyUrl(thread_address(row.name)),
        name=row.name,
        description=f"{title(row.title, _TITLE_WIDTH)} {status}, ball: {ball}",
        mime_type=_MARKDOWN,
        annotations=Annotations(last_modified=row.updated_at or None),
    )
