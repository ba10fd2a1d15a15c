"""``wc digest``: what happened, by thread."""

from __future__ import annotations

from wc_cli.clock import now_ms
from wc_cli.commands.common import SpeakerOptions
from wc_cli.commands.reading.paging import command_line, topic_list
from wc_cli.options import command, number, text
from wc_cli.output import remark, say, say_json
from wc_cli.terminal import render
from wc_core.text import one_line
from wc_core.views.news.digest import digest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wc_cli.commands.reading.searching import UpdatesOptions
    from wc_cli.context import Context

_THREADS = 20


class DigestOptions(SpeakerOptions):
    """Show what happened since a time, thread by thread: changes, decisions, and what
    the new entries say."""

    since: str = text(
        "--since",
        "WHEN",
        "A time, an age (90m, 3h, 2d) or an entry's id.",
        default="24h",
    )
    limit: int = number(
        "--limit", "At most this many threads (0: all).", default=_THREADS
    )
    branch: str = text("--branch", "BRANCH", "Only entries written on this branch.")


@command(DigestOptions)
def show_digest(context: Context, options: DigestOptions) -> None:
    """Show a digest."""
    print_digest(context, options, "digest")


def print_digest(
    context: Context, options: DigestOptions | UpdatesOptions, name: str
) -> None:
    """Print what happened in each thread that changed, as the command ``name`` does."""
    news = digest(
        context.overview,
        options.since,
        now_ms(),
        options.limit,
        branch=options.branch.strip(),
    )
    if options.json:
        say_json(news.to_json(context.store))
        return
    style = render.output_style(context.env)
    say("\n\n".join(render.news_text(thread, style) for thread in news.threads))
    if not news.threads:
        remark(one_line(f"Nothing since {options.since}."))
    if news.more:
        following = command_line(name, options, limit=0)
        remark(f"{news.more} more: {following}")
    if news.unreadable:
        remark(f"not read: {topic_list(news.unreadable)} (see: wc doctor)")
