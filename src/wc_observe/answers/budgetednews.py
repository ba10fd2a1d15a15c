"""Updates within a token budget: which entries are shown, and the calls that show the
others."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wc_core.base.values import NamedTuple
from wc_core.reading.views.budget.spending import Prices, gaps, spend
from wc_core.reading.views.budget.weighing import entry_items, show_padding
from wc_core.reading.views.updates import Updates, continuation
from wc_observe.answers.quoting import clean_json, json_length, tool_call
from wc_observe.answers.search import (
    LeftOutUpdates,
    update_lines,
    updates_json,
    updates_markdown,
)

if TYPE_CHECKING:
    from wc_core.reading.views.budget.tokens import Budget
    from wc_observe.callers.open_store import OpenStore

# What a heading gains if entries are left out: "12 of ".
_HEADING = 12


class UpdatesRequest(NamedTuple):
    """The query for updates: as for `wc_core.reading.views.updates.updates`. ``floor``
    is the id that ``since`` stands for now."""

    since: str
    floor: str
    limit: int
    branch: str


class UpdatesPart(NamedTuple):
    """The updates shown, the gaps between them, and the call that gets what follows."""

    updates: Updates
    left_out: tuple[LeftOutUpdates, ...] = ()
    call: str = ""


def fitting(
    store: OpenStore,
    request: UpdatesRequest,
    updates: Updates,
    budget: Budget,
    *,
    in_json: bool,
) -> UpdatesPart:
    """Returns as many of the updates as fit, the most important ones first.

    Raises InvalidInputError if the budget is too small for any of them.
    """
    part = UpdatesPart(updates)
    if updates.more:
        call = _call(request, budget, updates.next_since, request.limit)
        part = part._replace(call=call)
    choice = _UpdatesChoice(store, request, updates, budget)
    entries = [numbered.entry for _, numbered in updates.entries]
    items = entry_items(entries, store.viewer, summaries_only=True)
    forms = spend(items, choice.prices(part, in_json=in_json), budget)
    visible = [index for index, form in enumerate(forms) if form]
    return part._replace(
        updates=updates._replace(
            entries=tuple(updates.entries[index] for index in visible)
        ),
        left_out=tuple(
            choice.gap(gap.first, gap.size, sum(index < gap.first for index in visible))
            for gap in gaps(forms)
        ),
    )


def _call(request: UpdatesRequest, budget: Budget, since: str, limit: int) -> str:
    return tool_call(
        "list_updates",
        since=since,
        limit=limit,
        code_branch=request.branch,
        max_tokens=budget.tokens,
    )


class _UpdatesChoice:
    """The size of each update in an answer."""

    def __init__(
        self,
        store: OpenStore,
        request: UpdatesRequest,
        updates: Updates,
        budget: Budget,
    ) -> None:
        self._store, self._request = store, request
        self._updates, self._budget = updates, budget

    def gap(self, first: int, size: int, position: int = 0) -> LeftOutUpdates:
        """Returns a range of updates left out, with the call that shows them."""
        since = self._request.floor
        if first:
            since = continuation(self._updates.entries[first - 1][1].changed_id)
        call = _call(self._request, self._budget, since, size)
        return LeftOutUpdates(position, since, size, call)

    def prices(self, part: UpdatesPart, *, in_json: bool) -> Prices:
        """Returns the size of an answer as markdown or JSON."""
        store, since = self._store, self._request.since
        if in_json:
            fields = updates_json(store, since, part.updates)
            sizes = [json_length(entry) + 1 for entry in fields["entries"]]
            length = json_length(fields | {"left_out": [], "truncated": True})
            length += 1 if sizes else 0  # the last one has no comma
            return Prices(
                length - sum(sizes), lambda index, _: sizes[index], self._json_gap
            )
        sizes = [
            len(update_lines(store, topic, [numbered]))
            for topic, numbered in self._updates.entries
        ]
        length = len(updates_markdown(store, since, *part, joins=False)) + _HEADING
        return Prices(
            length - sum(sizes),
            lambda index, _: sizes[index],
            lambda first, size: len(self.gap(first, size).line()),
        )

    def _json_gap(self, first: int, size: int) -> int:
        fields = self.gap(first, size).to_json()
        return json_length(clean_json(fields)) + show_padding(fields["show"], "") + 1
