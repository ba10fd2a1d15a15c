"""``wc search``: entries of all threads that contain words, or are about something."""

from __future__ import annotations

from wc_cli.commands.reading.filtering import FilterOptions
from wc_cli.commands.reading.paging import command_line, topic_list
from wc_cli.ledger.clock import now_ms
from wc_cli.run.entries.commits import commit_digits
from wc_cli.run.entries.paths import searched_path
from wc_cli.run.options import (
    command,
    flag,
    number,
    text,
    words,
)
from wc_cli.run.output import remark, say, say_json
from wc_cli.run.terminal import entrytext
from wc_cli.run.terminal.style import output_style
from wc_core.base.errors import InvalidInputError
from wc_core.base.text import one_line
from wc_core.base.times import since_id
from wc_core.lookup.mentions import Mentions
from wc_core.reading.views.search import query as queries
from wc_core.reading.views.search.answers import count_text
from wc_core.reading.views.search.answers import search as find

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wc_cli.run.context import Context
    from wc_core.reading.views.search.answers import Hits

# As many as the server's tool shows.
_HITS = 50
_MODES = (queries.ALL, queries.ANY, queries.PHRASE)


class SearchOptions(FilterOptions):
    """Find entries by words, the best matches first. If few contain every word, those
    with some of them follow."""

    usual = "--any --phrase --author --since --kind --tag --file --sort --limit"

    query: tuple[str, ...] = words(
        "QUERY...",
        'Beginnings of words, "a phrase", or title:WORD, body:, topic:, author:, tag:.',
        default=(),
    )
    all: bool = flag("--all", help="Only entries with every word.")
    any: bool = flag("--any", help="Entries with any of the words.")
    phrase: bool = flag("--phrase", help="Only entries with the words as a phrase.")
    sort: str = text(
        "--sort",
        "ORDER",
        "Sort by best or newest.",
        default=queries.BEST,
        complete="search order",
    )
    file: str = text("--file", "PATH", "Only entries about this file or folder.")
    pr: int = number("--pr", "Only entries about this pull request.")
    commit: str = text("--commit", "ID", "Only entries about this commit, or HEAD.")
    branch: str = text("--branch", "BRANCH", "Only entries written on this branch.")
    kind: str = text("--kind", "KIND", "Only entries of this kind.", complete="kind")
    severity: str = text(
        "--severity", "LEVEL", "Only entries at least this severe.", complete="severity"
    )
    author: str = text(
        "--author", "NAME", "Only entries by this participant.", complete="agent"
    )
    since: str = text(
        "--since",
        "WHEN",
        "Only after a time, an age (3h), a day (monday) or an entry's id.",
    )
    until: str = text("--until", "WHEN", "Only up to this time.")
    limit: int = number(
        "--limit", "At most this many (0: all).", short="-n", default=_HITS
    )
    facets: bool = flag(
        "--facets", help="Count the hits by status, ball, author and so on."
    )

    def mode(self) -> str:
        """Return which entries match the query. Raises InvalidInputError if the options
        contradict each other."""
        chosen = [name for name in _MODES if getattr(self, name)]
        if len(chosen) > 1:
            flags = " and ".join(f"--{name}" for name in chosen)
            raise InvalidInputError(f"{flags} exclude each other.", "Use one of them.")
        return chosen[0] if chosen else queries.AUTO


@command(SearchOptions)
def search(context: Context, options: SearchOptions) -> None:
    """Search."""
    query = " ".join(options.query)
    commit = options.commit and commit_digits(
        options.commit, context.place.repository, context.env
    )
    about = Mentions(
        searched_path(options.file, context),
        options.pr,
        commit,
        options.branch,
        options.kind,
        options.severity,
        options.author,
        since_id(options.since, now_ms()) if options.since else "",
        since_id(options.until, now_ms()) if options.until else "",
    )
    question = queries.Question(
        query,
        options.filter(),
        options.limit,
        options.cursor,
        about,
        options.mode(),
        options.sort,
        options.facets,
    )
    engine, style = context.search_engine(context.overview), output_style(context.env)
    hits = find(engine, question)
    if options.json:
        say_json(hits.to_json(context.store, query))
        return
    counts = entrytext.facets_text(hits.facets, style)
    say("\n".join(filter(None, (entrytext.hits_text(hits, style), counts))))
    remark(_hits_remark(options, hits))


def _hits_remark(options: SearchOptions, hits: Hits) -> str:
    """Return how many hits there are, how to get more, and what was not searched."""
    text = count_text(hits)
    if hits.cursor:
        text += f", more: {command_line('search', options, cursor=hits.cursor)}"
    if hits.by_words:
        text += f"\nby words alone: {one_line(hits.by_words)}"
    if hits.unreadable:
        text += f"\nnot searched: {topic_list(hits.unreadable)} (see: wc doctor)"
    return text
