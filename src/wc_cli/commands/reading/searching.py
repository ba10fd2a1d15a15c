"""``wc search`` and ``wc updates``: entries of all threads, by words or by time."""

from __future__ import annotations

from wc_cli.clock import now_ms
from wc_cli.commands.common import SpeakerOptions
from wc_cli.commands.reading.lists import FilterOptions, in_area
from wc_cli.commands.reading.paging import command_line, topic_list
from wc_cli.entries.paths import searched_path
from wc_cli.options import (
    command,
    flag,
    number,
    text,
    words,
)
from wc_cli.output import json_size, remark, say, say_json
from wc_cli.terminal import render
from wc_core.errors import InvalidInputError
from wc_core.search.mentions import Mentions
from wc_core.text import one_line
from wc_core.times import since_id
from wc_core.views import updates as update_views
from wc_core.views.search import answers as search_views
from wc_core.views.search.facets import Counting

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from wc_cli.context import Context
    from wc_core.views.overview import Overview
    from wc_core.views.search.answers import Hits
    from wc_core.views.updates import Updates

_MODES = (search_views.ALL, search_views.ANY, search_views.PHRASE)


class SearchOptions(FilterOptions):
    """Find entries by their words, the best matches first. Where few have every word,
    those with some follow."""

    query: tuple[str, ...] = words(
        "QUERY...",
        'Beginnings of words; "a phrase"; title:, body:, topic:, author:, tag: before.',
        default=(),
    )
    all: bool = flag("--all", help="Only entries with every word.")
    any: bool = flag("--any", help="Entries with any of the words.")
    phrase: bool = flag("--phrase", help="Only entries with the words side by side.")
    sort: str = text(
        "--sort",
        "ORDER",
        "By this: best or newest.",
        default=search_views.BEST,
        complete="search order",
    )
    file: str = text("--file", "PATH", "Only entries about this file or folder.")
    pr: int = number("--pr", "Only entries about this pull request.")
    commit: str = text("--commit", "ID", "Only entries about this commit.")
    branch: str = text("--branch", "BRANCH", "Only entries written on this branch.")
    kind: str = text("--kind", "KIND", "Only entries of this kind.", complete="kind")
    severity: str = text(
        "--severity", "LEVEL", "Only those as severe or more so.", complete="severity"
    )
    author: str = text(
        "--author", "NAME", "Only entries by this participant.", complete="agent"
    )
    since: str = text(
        "--since",
        "WHEN",
        "Only after a time, an age (3h), a day (monday) or an entry's id.",
    )
    until: str = text("--until", "WHEN", "Only up to then.")
    max_tokens: int = number(
        "--max-tokens", "At most so long an answer, 4 characters each (0: any)."
    )
    area: str = text("--area", "AREA", "Only threads that belong to this area.")
    facets: bool = flag(
        "--facets", help="Add how many hits each status, ball, author and so on has."
    )

    def mode(self) -> str:
        """Returns which entries answer the query. Raises InvalidInputError for more
        than one answer to that."""
        chosen = [name for name in _MODES if getattr(self, name)]
        if len(chosen) > 1:
            flags = " and ".join(f"--{name}" for name in chosen)
            raise InvalidInputError(f"{flags} exclude each other.", "Give one of them.")
        return chosen[0] if chosen else search_views.AUTO


class UpdatesOptions(SpeakerOptions):
    """Show what happened since a time."""

    since: str = text(
        "--since",
        "WHEN",
        "A time, an age (90m, 3h, 2d) or an entry's id.",
        default="24h",
    )
    limit: int = number("--limit", "At most this many (0: all).")
    branch: str = text("--branch", "BRANCH", "Only entries written on this branch.")
    digest: bool = flag("--digest", help="One summary per thread.")
    max_tokens: int = number(
        "--max-tokens", "At most so long an answer, 4 characters each (0: any)."
    )


@command(SearchOptions)
def search(context: Context, options: SearchOptions) -> None:
    """Search."""
    query = " ".join(options.query)
    about = Mentions(
        searched_path(options.file, context),
        options.pr,
        options.commit,
        options.branch,
        options.kind,
        options.severity,
        options.author,
        since_id(options.since, now_ms()) if options.since else "",
        since_id(options.until, now_ms()) if options.until else "",
    )
    overview = context.overview
    thread_filter = in_area(context, overview, options.area, options.filter())
    question = search_views.Question(
        query,
        thread_filter,
        options.limit,
        options.cursor,
        about,
        options.mode(),
        options.sort,
        _counting(context, overview) if options.facets else None,
    )
    engine, style = context.search_engine(overview), render.output_style(context.env)
    meaning = context.meaning(overview)

    def ask(most: int) -> Hits:
        limited = question._replace(limit=most)
        return search_views.search(engine, overview, limited, meaning)

    def size(hits: Hits) -> int:
        if options.json:
            return json_size(hits.to_json(context.store, query))
        return len(text_of(hits)) + len(_hits_remark(options, hits)) + 2

    def text_of(hits: Hits) -> str:
        counts = render.facets_text(hits.facets, style)
        return "\n".join(filter(None, (render.hits_text(hits, style), counts)))

    if options.max_tokens:
        from wc_core.views.budget import hits as fitting  # 1 ms, only for a budget
        from wc_core.views.budget.spending import Budget

        budget = Budget(options.max_tokens)
        hits = fitting.first_hits(ask, options.limit, size, budget)
    else:
        hits = ask(options.limit)
    if options.json:
        say_json(hits.to_json(context.store, query))
        return
    say(text_of(hits))
    remark(_hits_remark(options, hits))


def _counting(context: Context, overview: Overview) -> Counting:
    """Returns what to count in an answer with facets."""
    areas = context.settings.areas
    if not areas:
        return Counting()
    from wc_core.areas.threads import areas_by_topic  # 2 ms, only where there are any

    return Counting(lambda rows: areas_by_topic(overview, areas, rows))


def _hits_remark(options: SearchOptions, hits: Hits) -> str:
    """Returns how many hits there are, how to get more, and what was not searched."""
    text = search_views.count_text(hits)
    if hits.cursor:
        text += f", more: {command_line('search', options, cursor=hits.cursor)}"
    if hits.by_words:
        text += f"\nby words alone: {one_line(hits.by_words)}"
    if hits.unreadable:
        text += f"\nnot searched: {topic_list(hits.unreadable)} (see: wc doctor)"
    return text


@command(UpdatesOptions)
def updates(context: Context, options: UpdatesOptions) -> None:
    """Show what happened."""
    if options.digest:
        from wc_cli.commands.reading import digesting  # 3 ms, not for entries

        digesting.print_digest(context, options, "updates")
        return
    overview, now = context.overview, now_ms()
    news = update_views.updates(
        overview,
        options.since,
        now,
        options.limit,
        branch=options.branch.strip(),
        engine=context.search_engine(overview),
    )
    remarks = "\n".join(_remarks(options, news))
    fitting = None
    if options.max_tokens:
        from wc_cli.commands.reading import budgeted  # 2 ms, only for a budget

        floor = since_id(options.since, now)
        fitting = budgeted.fit_updates(context, options, news, floor, f"{remarks}\n")
    if options.json:
        say_json(fitting.to_json() if fitting else news.to_json(context.store))
        return
    style = render.output_style(context.env)
    lines = (render.update_line(topic, entry, style) for topic, entry in news.entries)
    say(fitting.text() if fitting else "\n".join(lines))
    if remarks:
        remark(remarks)


def _remarks(options: UpdatesOptions, news: Updates) -> Iterator[str]:
    """Yields what is said beside the updates, a line each."""
    if not news.entries:
        yield one_line(f"Nothing since {options.since}.")
    if news.more:
        following = command_line("updates", options, since=news.next_since)
        yield f"{news.more} more: {following}"
    if news.unreadable:
        yield f"not read: {topic_list(news.unreadable)} (see: wc doctor)"
