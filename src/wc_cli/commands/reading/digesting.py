"""``wc digest``: what happened, thread by thread."""

from __future__ import annotations

from wc_cli.commands.common import SpeakerOptions
from wc_cli.commands.reading.paging import command_line, topic_list
from wc_cli.ledger.clock import now_ms
from wc_cli.run.options import command, number, text
from wc_cli.run.output import json_size, remark, say, say_json
from wc_cli.run.terminal import entrytext
from wc_cli.run.terminal.style import Style, output_style
from wc_core.base.phrases import counted
from wc_core.base.text import one_line
from wc_core.reading.views.budget.weighing import SNIPPET_WIDTH, show_padding
from wc_core.reading.views.news.digest import digest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from wc_cli.commands.reading.options import UpdatesOptions
    from wc_cli.run.context import Context
    from wc_core.reading.views.news.digest import Digest

_THREADS = 20


class DigestOptions(SpeakerOptions):
    """Show what happened since a time, thread by thread: changes, decisions, and what
    the new entries say."""

    bare = ("since",)

    since: str = text(
        "--since",
        "WHEN",
        "A time, an age (3h), a day (monday) or an entry's id.",
        default="24h",
    )
    limit: int = number(
        "--limit", "At most this many threads (0: all).", default=_THREADS, short="-n"
    )
    branch: str = text("--branch", "BRANCH", "Only entries written on this branch.")
    max_tokens: int = number(
        "--max-tokens", "At most this many tokens, 4 characters each (0: all)."
    )


@command(DigestOptions)
def show_digest(context: Context, options: DigestOptions) -> None:
    """Show a digest."""
    print_digest(context, options, "digest")


def print_digest(
    context: Context, options: DigestOptions | UpdatesOptions, name: str
) -> None:
    """Print what happened in each changed thread, as the command ``name`` does."""
    news = digest(
        context.overview,
        options.since,
        now_ms(),
        options.limit,
        branch=options.branch.strip(),
    )
    show = command_line(name, options, max_tokens=0)
    following = command_line(name, options, limit=0)
    if options.max_tokens:
        # 1 ms, only for a budget
        from wc_core.reading.views.budget.threadnews import fit_digest
        from wc_core.reading.views.budget.tokens import CALLS, Budget

        def length(digest: Digest) -> int:
            if options.json:
                return _json_length(digest, context.store, options.since, show)
            remarks = _remarks(digest, options.since, show, following)
            return len(_text(digest, plain)) + sum(len(line) + 1 for line in remarks)

        plain = Style(color=False)
        news = fit_digest(
            news, context.viewer, length, Budget(options.max_tokens, calls=CALLS)
        )
    if options.json:
        say_json(news.to_json(context.store, show))
        return
    say(_text(news, output_style(context.env)))
    for line in _remarks(news, options.since, show, following):
        remark(line)


def _text(news: Digest, style: Style) -> str:
    return "\n\n".join(entrytext.news_text(thread, style) for thread in news.threads)


def _json_length(news: Digest, store: str, since: str, show: str) -> int:
    """Return the length of a digest's JSON with the server's additions, so that both
    choose the same threads."""
    fields = news.to_json(store, show)
    for thread, shown in zip(fields["threads"], news.threads, strict=True):
        thread["last"]["snippet"] = one_line(shown.last.entry.body, SNIPPET_WIDTH)
    return json_size(fields | {"since": since}) + show_padding(show, "")


def _remarks(news: Digest, since: str, show: str, following: str) -> Iterator[str]:
    """Yield the remarks beside a digest, a line each."""
    if not news.threads:
        yield one_line(f"Nothing since {since}.")
    if news.left_out:
        count = counted(len(news.left_out), "thread", "threads")
        yield f"{count} left out ({topic_list(news.named_topics)}): {show}"
    if news.more:
        yield f"{news.more} more: {following}"
    if news.unreadable:
        yield f"not read: {topic_list(news.unreadable)} (see: wc doctor)"
