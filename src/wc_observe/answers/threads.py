"""The list of threads, the index page, and what a thread waits for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from wc_core.base.text import clean, defused, one_line
from wc_core.base.values import NamedTuple
from wc_core.ledger.summaries.latest import latest_words
from wc_core.reading.views import index, planning
from wc_core.reading.views.search.query import Matches
from wc_observe.answers.quoting import (
    block,
    clean_json,
    entry_count,
    holder,
    tag_words,
    title,
    word,
)
from wc_observe.answers.search import searched_json, unreadable_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wc_core.reading.views.planning import Chain
    from wc_core.reading.views.rows import Filter, RowPage, ThreadRow
    from wc_observe.callers.open_store import OpenStore

# A list of fifty threads fits in 8 KB; each further thread adds its share.
_LIST_BYTES = 7_500
_LIST_ROWS = 50
_TITLE_WIDTHS = (60, 40, 24, 12)
_NAME_WIDTH = 60
_JSON_TITLE_WIDTH = 200
_SUMMARY_WIDTH = 140
_INDEX_CHARACTERS = 40_000
_WIDE = 200


class ListRequest(NamedTuple):
    """Which threads to list, how many at most, and from which cursor on. ``searched``
    is the query that the index gets. With ``summaries``, what was said last in each
    is added."""

    criteria: Filter
    limit: int
    cursor: str = ""
    searched: Matches = Matches([], {})
    summaries: bool = False


def as_json(store: OpenStore, request: ListRequest) -> dict[str, Any]:
    """Returns the list shape."""
    page = store.overview.page(request.criteria, request.limit, request.cursor)
    fields = page.to_json(store.label)
    for row, thread in zip(page.rows, fields["threads"], strict=True):
        thread["title"] = one_line(thread["title"], _JSON_TITLE_WIDTH)
        if request.summaries:
            words = latest_words(store.reader, row.topic, row.title)
            thread.update(words.to_json())
    fields["total"] = page.total
    fields |= searched_json(request.searched)
    return dict(clean_json(fields))


def as_markdown(store: OpenStore, request: ListRequest) -> str:
    """Returns one line per thread: at most ``limit``, and fewer if they would take more
    than 150 bytes each, or 300 with summaries. The cursor continues after them."""
    limit = request.limit
    while True:
        page = store.overview.page(request.criteria, limit, request.cursor)
        fitting = _fitting_lines(
            page.rows, request.limit, _summary_lines(store, page, request)
        )
        if len(fitting) == len(page.rows):
            heading = _list_heading(store, page)
            ending = unreadable_line(request.searched.unreadable)
            return "".join((heading, *fitting, _cursor_line(page), ending))
        # The cursor must belong to the last visible thread, so get a smaller page.
        limit = max(1, len(fitting))


def _summary_lines(store: OpenStore, page: RowPage, request: ListRequest) -> list[str]:
    """Returns what was said last in each thread, quoted; nothing unless
    requested."""
    if not request.summaries:
        return []
    words = [latest_words(store.reader, row.topic, row.title) for row in page.rows]
    return [
        block(one_line(f"{latest.author}: {latest.summary.text}", _SUMMARY_WIDTH))
        if latest.summary.text
        else ""
        for latest in words
    ]


def _fitting_lines(
    rows: tuple[ThreadRow, ...], limit: int, summaries: list[str]
) -> list[str]:
    """Returns as many lines as fit, with their summaries if there are any. Titles are
    shortened before threads are left out."""
    budget = (
        _LIST_BYTES * max(limit, _LIST_ROWS) // _LIST_ROWS * (2 if summaries else 1)
    )
    lines: list[str] = []
    endings = summaries or [""] * len(rows)
    for width in _TITLE_WIDTHS:
        lines = [
            f"{_thread_line(row, width)}{ending}"
            for row, ending in zip(rows, endings, strict=True)
        ]
        if sum(len(line.encode()) for line in lines) <= budget:
            return lines
    while sum(len(line.encode()) for line in lines) > budget and len(lines) > 1:
        lines.pop()
    return lines


def _list_heading(store: OpenStore, page: RowPage) -> str:
    count = "1 thread" if page.total == 1 else f"{page.total} threads"
    if len(page.rows) < page.total:
        count = f"{len(page.rows)} of {count}"
    return f"{count}, latest first, in the store {store.label}\n"


def _thread_line(row: ThreadRow, width: int) -> str:
    ball = holder(row.ball, row.ownership, _NAME_WIDTH)
    marks = [
        f", {entry_count(row.entry_count)}",
        f", {row.new_for_you} new" if row.new_for_you else "",
        f", {word(row.waits_text, _NAME_WIDTH)}" if row.waits else "",
        f", {word(row.asked_text, _NAME_WIDTH)}" if row.asked_by else "",
        f", {word(row.passed.state, _NAME_WIDTH)}" if row.passed else "",
        f", checklist {row.checklist}" if row.checklist.total else "",
        tag_words(row.tags),
        f", {word(row.way_text, _NAME_WIDTH)}" if row.via else "",
        f", {word(row.updated_at[:16], 30)}Z" if row.updated_at else "",
        ", forked" if row.forked else "",
        ", damaged: see wc doctor" if row.damaged else "",
    ]
    status = word(row.status_text, _NAME_WIDTH)
    return (
        f"- {row.name}: {title(row.title, width)} {status}, "
        f"ball: {ball}{''.join(marks)}\n"
    )


def _cursor_line(page: RowPage) -> str:
    if not page.cursor:
        return ""
    return f'truncated: the next ones with cursor="{page.cursor}"\n'


def _resource(topic: str) -> str:
    """Returns the address of a thread as a resource."""
    return f"watercooler://threads/{quote(topic, safe='')}"


def index_page(store: OpenStore) -> str:
    """Returns the index as markdown: who has the next move, the caller's own moves
    first.

    It is the page that ``wc reindex`` writes, with titles in quotes, and links to the
    resources. After 40,000
    characters it is cut, and a line says so.
    """
    rows = [
        row._replace(
            title=title(row.title, _JSON_TITLE_WIDTH),
            status=word(row.status, _NAME_WIDTH),
            ball=None if row.ball is None else word(row.ball, _NAME_WIDTH),
        )
        for row in store.overview.rows()
    ]
    page = index.render_index(rows, link=_resource)
    text = f"Store: {store.label}\n\n{defused(clean(page))}"
    if len(text) <= _INDEX_CHARACTERS:
        return text
    visible = text[:_INDEX_CHARACTERS].rpartition("\n")[0]
    hidden = text.count("\n") - visible.count("\n")
    return (
        f"{visible}\n\ntruncated: {hidden} lines more; "
        "page through them with list_threads\n"
    )


def chain(store: OpenStore, topic: str) -> Chain:
    """Why the caller cannot start a thread yet. Raises NotFoundError."""
    stored = store.reader.find(topic)
    return planning.chain_of(store.overview.plan(), stored)


def chain_json(store: OpenStore, result: Chain) -> dict[str, Any]:
    """The reasons, as JSON."""
    return dict(clean_json({"store": store.label} | result.to_json()))


def chain_markdown(result: Chain) -> str:
    """The reasons, one per line."""
    if result.is_ready:
        return f"Nothing: {word(result.name, _WIDE)} is ready.\n"
    lines = [f"{word(result.name, _WIDE)} is not ready:"]
    lines += _lines(result, 0)
    return "\n".join(lines) + "\n"


def _lines(result: Chain, depth: int) -> Iterator[str]:
    for obstacle, behind in result.reasons:
        ready = ", which is ready" if behind is not None and behind.is_ready else ""
        name = f"{word(result.name, _WIDE)}: " if depth else ""
        yield f"{'  ' * depth}- {name}{word(obstacle.text, _WIDE)}{ready}"
        if behind is not None:
            yield from _lines(behind, depth + 1)
