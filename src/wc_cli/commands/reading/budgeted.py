"""``--max-tokens``: answers within a number of tokens, with commands that show the
rest."""

from __future__ import annotations

from wc_cli.commands.reading.paging import command_line, rest_text
from wc_cli.commands.reading.passed import passed_text
from wc_cli.run.output import json_line, json_size, say, say_json
from wc_cli.run.terminal import entrytext
from wc_cli.run.terminal.style import output_style
from wc_core.attention.wake.passes import pass_fields
from wc_core.base.phrases import counted
from wc_core.base.text import one_line
from wc_core.base.values import NamedTuple
from wc_core.ledger.summaries.choosing import summary_of
from wc_core.ledger.summaries.kept import read_kept
from wc_core.reading.views import entries as entry_views
from wc_core.reading.views.budget.spending import Prices, gaps, spend
from wc_core.reading.views.budget.tokens import CALLS, Budget
from wc_core.reading.views.budget.weighing import (
    SNIPPET_WIDTH,
    entry_items,
    show_padding,
)
from wc_core.reading.views.updates import continuation

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from wc_cli.commands.reading.options import ReadOptions, UpdatesOptions
    from wc_cli.run.context import Context
    from wc_core.reading.views.excerpts.spans import ThreadSpan
    from wc_core.reading.views.updates import Updates


def print_thread(context: Context, options: ReadOptions, span: ThreadSpan) -> bool:
    """Print as many entries of a thread as fit, whole or summarised. Returns whether
    all of them are whole."""
    entries = [numbered.entry for numbered in span.entries]
    items = entry_items(entries, context.viewer, summaries_only=options.summary_only)
    choice = _ThreadChoice(context, options, span)
    prices = choice.json_prices() if options.json else choice.text_prices()
    forms = spend(items, prices, Budget(options.max_tokens, calls=CALLS))
    if options.json:
        say_json(choice.json_answer(forms))
    else:
        say(choice.text_answer(forms))
    return forms == [item.forms for item in items]


class _ThreadChoice:
    """The entries of a thread in each possible form: 1 is the summary of a text, 2 is
    the whole text."""

    def __init__(
        self, context: Context, options: ReadOptions, span: ThreadSpan
    ) -> None:
        self._context, self._options, self._span = context, options, span
        self._style = output_style(context.env)
        self._kept = read_kept(context.reader.layout, span.thread.state.topic)

    def _is_summary(self, index: int, form: int) -> bool:
        if self._options.summary_only:
            return True
        return form == 1 and bool(self._span.entries[index].entry.body)

    def _whole_command(self, index: int) -> str:
        """Return the command that shows the whole entry."""
        only: dict[str, Any] = {"branch": "", "kind": "", "new": False}
        start = self._span.entries[index].idx
        only |= {"start": start, "limit": 1, "peek": True, "max_tokens": 0}
        return command_line("read", self._options, **only)

    def _gap_command(self, first: int, count: int) -> str:
        # Without marking as read: the other entries would no longer be new.
        start = self._span.entries[first].idx
        changed: dict[str, Any] = {"start": start, "limit": count, "peek": True}
        return command_line("read", self._options, **changed)

    # As JSON.

    def json_prices(self) -> Prices:
        """Return the size of the parts of a JSON answer."""
        frame = self._json_frame()
        if self._span.entries:
            count = self._span.thread.state.entry_count  # which the server adds
            frame |= {"left_out": [], "truncated": True, "entry_count": count}
        return Prices(
            json_size(frame),
            lambda index, form: self._json_price(self._json_entry(index, form)),
            lambda first, count: self._json_price(self._json_gap(first, count)),
        )

    def _json_price(self, fields: dict[str, Any]) -> int:
        show = fields.get("show", "")
        padding = show_padding(show, self._span.thread.name) if show else 0
        return len(json_line(fields)) + padding + 1

    def json_answer(self, forms: list[int]) -> dict[str, Any]:
        """Return the read shape, with what is left out."""
        fields = self._json_frame()
        visible = [(index, form) for index, form in enumerate(forms) if form]
        fields["entries"] = [self._json_entry(index, form) for index, form in visible]
        left_out = [self._json_gap(gap.first, gap.size) for gap in gaps(forms)]
        if left_out:
            fields["left_out"] = left_out
        if left_out or any("show" in entry for entry in fields["entries"]):
            fields["truncated"] = True
        return fields

    def _json_frame(self) -> dict[str, Any]:
        context, span = self._context, self._span
        directory = context.settings.directory
        passed = pass_fields(context.reader, span.thread.state, directory)
        store = context.store
        return entry_views.read_json(span.thread, store, [], span.following) | passed

    def _json_entry(self, index: int, form: int) -> dict[str, Any]:
        numbered = self._span.entries[index]
        if not self._is_summary(index, form):
            return numbered.to_json()
        fields = numbered.to_summary_json(summary_of(numbered.entry, self._kept))
        if self._options.summary_only:
            return fields
        return fields | {"show": self._whole_command(index)}

    def _json_gap(self, first: int, count: int) -> dict[str, Any]:
        start = self._span.entries[first].idx
        command = self._gap_command(first, count)
        return {"from_entry": start, "entries": count, "show": command}

    # As text.

    def text_prices(self) -> Prices:
        """Return the size of the parts of a text answer, with the line about what
        follows."""
        following = rest_text(self._options, self._span)
        return Prices(
            len(self._head()) + len(following) + 1,
            lambda index, form: len(self._text_entry(index, form)),
            lambda first, count: len(self._text_gap(first, count)),
        )

    def text_answer(self, forms: list[int]) -> str:
        """Return the thread as text, with the commands for what is left out."""
        left_out = {gap.first: gap.size for gap in gaps(forms)}
        parts = [self._head()]
        for index, form in enumerate(forms):
            if form:
                parts.append(self._text_entry(index, form))
            elif index in left_out:
                parts.append(self._text_gap(index, left_out[index]))
        return "".join(parts)

    def _head(self) -> str:
        passed = passed_text(self._context, self._span.thread.state)
        return f"{entrytext.thread_head(self._span.thread, self._style, passed)}\n"

    def _text_entry(self, index: int, form: int) -> str:
        numbered = self._span.entries[index]
        if not self._is_summary(index, form):
            return f"\n{entrytext.entry_text(numbered, self._style)}\n"
        summary = summary_of(numbered.entry, self._kept)
        text = f"{entrytext.summary_text(numbered, summary, self._style)}\n"
        if self._options.summary_only:
            return text
        return f"{text}    whole: {self._whole_command(index)}\n"

    def _text_gap(self, first: int, count: int) -> str:
        entries = counted(count, "entry", "entries")
        start = self._span.entries[first].idx
        return (
            f"{entries} left out, from #{start} on: {self._gap_command(first, count)}\n"
        )


def fit_updates(
    context: Context, options: UpdatesOptions, news: Updates, floor: str, remarks: str
) -> FittingUpdates:
    """Return as many of the updates as fit, and what is left out between them. They are
    the updates after the id ``floor``; ``remarks`` are printed beside them."""
    choice = FittingUpdates(context, options, news, floor, ())
    entries = [numbered.entry for _, numbered in news.entries]
    items = entry_items(entries, context.viewer, summaries_only=True)
    prices = choice.json_prices() if options.json else choice.text_prices(len(remarks))
    forms = spend(items, prices, Budget(options.max_tokens, calls=CALLS))
    return choice._replace(forms=tuple(forms))


class FittingUpdates(NamedTuple):
    """The updates, and the form in which each is shown."""

    context: Context
    options: UpdatesOptions
    news: Updates
    floor: str
    forms: tuple[int, ...]

    def json_prices(self) -> Prices:
        """Return the size of the parts of a JSON answer, with the server's
        additions."""
        fields = self.news.to_json(self.context.store)
        begins = [numbered.entry.body for _, numbered in self.news.entries]
        entries = [
            entry | {"snippet": one_line(body, SNIPPET_WIDTH)}
            for entry, body in zip(fields["entries"], begins, strict=True)
        ]
        sizes = [len(json_line(entry)) + 1 for entry in entries]
        frame = fields | {"entries": [], "left_out": [], "truncated": True}
        return Prices(
            json_size(frame | {"since": self.options.since}),
            lambda index, _: sizes[index],
            self._json_gap_price,
        )

    def to_json(self) -> dict[str, Any]:
        """Return the updates shape, with what is left out."""
        fields = self.news.to_json(self.context.store)
        pairs = zip(fields["entries"], self.forms, strict=True)
        fields["entries"] = [entry for entry, form in pairs if form]
        left_out = [self._json_gap(gap.first, gap.size) for gap in gaps(self.forms)]
        if left_out:
            fields |= {"left_out": left_out, "truncated": True}
        return fields

    def text_prices(self, frame: int) -> Prices:
        """Return the size of the parts of a text answer, beside ``frame``
        characters."""
        return Prices(
            frame,
            lambda index, _: len(self._line(index)) + 1,
            lambda first, size: len(self._gap_line(first, size)) + 1,
        )

    def text(self) -> str:
        """Return a line for each entry, and one for what is left out between them."""
        sizes = {gap.first: gap.size for gap in gaps(self.forms)}
        lines = [
            self._line(index) if form else self._gap_line(index, sizes[index])
            for index, form in enumerate(self.forms)
            if form or index in sizes
        ]
        return "\n".join(lines)

    def _line(self, index: int) -> str:
        style = output_style(self.context.env)
        topic, numbered = self.news.entries[index]
        return entrytext.update_line(topic, [numbered], style)

    def _gap_line(self, first: int, size: int) -> str:
        fields = self._json_gap(first, size)
        return f"{counted(size, 'entry', 'entries')} left out: {fields['show']}"

    def _json_gap(self, first: int, size: int) -> dict[str, Any]:
        since = self.floor
        if first:
            since = continuation(self.news.entries[first - 1][1].changed_id)
        show = command_line("updates", self.options, since=since, limit=size)
        return {"since": since, "entries": size, "show": show}

    def _json_gap_price(self, first: int, size: int) -> int:
        fields = self._json_gap(first, size)
        return len(json_line(fields)) + show_padding(fields["show"], "") + 1
