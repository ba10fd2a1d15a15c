"""Answers within a token budget: which entries are shown, in which form, and the calls
that show the others."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from wc_core.base.text import clean
from wc_core.ledger.summaries.choosing import summary_of
from wc_core.ledger.summaries.kept import read_kept
from wc_core.reading.views.budget.spending import Prices, gaps, spend
from wc_core.reading.views.budget.weighing import entry_items, show_padding
from wc_observe.answers.entries import (
    EntryPage,
    EntrySpan,
    LeftOut,
    ShownEntry,
    entry_lines,
    matching_entries,
    page_json,
    page_markdown,
)
from wc_observe.answers.quoting import clean_json, json_length, tool_call

if TYPE_CHECKING:
    from wc_core.ledger.threads.reader import Thread
    from wc_core.reading.views.budget.tokens import Budget
    from wc_core.reading.views.entries import Numbered
    from wc_observe.callers.open_store import OpenStore


def entry_page(
    store: OpenStore, topic: str, span: EntrySpan, budget: Budget, *, in_json: bool
) -> EntryPage:
    """Returns as much of a thread as fits: the most important entries first, whole or
    as a summary. Bodies are not cut.

    Raises NotFoundError if the thread does not exist, and InvalidInputError if the
    budget is too small for any entry.
    """
    thread = store.reader.thread(store.reader.find(topic))
    matching = matching_entries(thread, span)
    requested, following = matching[: span.limit], matching[span.limit :]
    page = EntryPage(thread, ())
    if following:
        call = _call(thread, span, budget, following[0].idx, span.limit)
        page = page._replace(next_index=following[0].idx, call=call)
    choice = _Choice(store, thread, span, budget, requested)
    items = entry_items(
        [numbered.entry for numbered in requested],
        store.viewer,
        summaries_only=span.headings,
    )
    forms = spend(items, choice.prices(page, in_json=in_json), budget)
    visible = [index for index, form in enumerate(forms) if form]
    return page._replace(
        entries=tuple(choice.entry(index, forms[index]) for index in visible),
        left_out=tuple(
            choice.gap(gap.first, gap.size, sum(index < gap.first for index in visible))
            for gap in gaps(forms)
        ),
    )


def _call(
    thread: Thread, span: EntrySpan, budget: Budget, start: int, limit: int
) -> str:
    """Returns the call that shows ``limit`` of the requested entries, from ``start``
    on."""
    return tool_call(
        "read_thread",
        topic=thread.name,
        from_entry=start,
        limit=limit,
        summary_only=span.headings,
        history=span.history,
        code_branch=span.branch,
        kind=span.kind,
        max_tokens=budget.tokens,
    )


class _Choice:
    """The requested entries, in every form that they can have."""

    def __init__(
        self,
        store: OpenStore,
        thread: Thread,
        span: EntrySpan,
        budget: Budget,
        requested: list[Numbered],
    ) -> None:
        self._store, self._thread, self._span = store, thread, span
        self._budget, self._requested = budget, requested
        self._kept = read_kept(store.reader.layout, thread.state.topic)

    def entry(self, index: int, form: int) -> ShownEntry:
        """Returns an entry in a form: 1 is a summary, if there is one; 2 is whole."""
        numbered = self._requested[index]
        body = clean(numbered.entry.body)
        if body and (form == 1 or self._span.headings):
            call = "" if self._span.headings else self._entry_call(numbered)
            summary = summary_of(numbered.entry, self._kept)
            return ShownEntry(numbered, "", len(body), 0, True, summary, call)
        return ShownEntry(numbered, body, len(body), heading=self._span.headings)

    def _entry_call(self, numbered: Numbered) -> str:
        return tool_call(
            "read_thread",
            topic=self._thread.name,
            entry=str(numbered.idx),
            history=self._span.history,
        )

    def gap(self, first: int, count: int, position: int = 0) -> LeftOut:
        """Returns a range of entries left out, with the call that shows them."""
        start = self._requested[first].idx
        call = _call(self._thread, self._span, self._budget, start, count)
        return LeftOut(position, start, count, call)

    def prices(self, page: EntryPage, *, in_json: bool) -> Prices:
        """Returns the size of an answer as markdown or JSON, apart from what is on
        ``page``."""
        gap = (self.gap(0, 1),) if self._requested else ()
        frame = page._replace(left_out=gap)
        if in_json:
            fields = page_json(self._store, frame)
            item_price, gap_price = self._json_item, self._json_gap
            length = json_length(fields)
        else:
            item_price, gap_price = self._text_item, self._text_gap
            length = len(page_markdown(self._store, frame))
        length -= gap_price(0, 1) if gap else 0
        return Prices(length, lru_cache(None)(item_price), lru_cache(None)(gap_price))

    def _json_item(self, index: int, form: int) -> int:
        return self._json_price(self.entry(index, form).to_json())

    def _json_gap(self, first: int, count: int) -> int:
        return self._json_price(self.gap(first, count).to_json())

    def _json_price(self, fields: dict[str, Any]) -> int:
        show = fields.get("show", "")
        padding = show_padding(show, self._thread.name) if show else 0
        return json_length(clean_json(fields)) + padding + 1

    def _text_item(self, index: int, form: int) -> int:
        return len(entry_lines(self._thread, self.entry(index, form)))

    def _text_gap(self, first: int, count: int) -> int:
        return len(self.gap(first, count).line())
