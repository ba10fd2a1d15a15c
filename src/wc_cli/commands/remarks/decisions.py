"""``wc decisions``: lists decisions."""

from __future__ import annotations

from wc_cli.commands.common import SpeakerOptions
from wc_cli.ledger.clock import now_ms
from wc_cli.run.options import argument, command, number, text
from wc_cli.run.output import remark, say, say_json
from wc_cli.run.terminal import entrytext
from wc_cli.run.terminal.style import output_style
from wc_core.base.phrases import quoted
from wc_core.base.text import one_line
from wc_core.reading.views.search import decisions as decision_views

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wc_cli.run.context import Context


class DecisionsOptions(SpeakerOptions):
    """List decisions, the latest first, of all threads or of one."""

    bare = ("since",)

    topic: str = argument("TOPIC", "Only of this thread.", complete="topic", default="")
    since: str = text(
        "--since",
        "WHEN",
        "Only after a time, an age (3h), a day (monday) or an entry's id.",
    )
    limit: int = number("--limit", "At most this many (0: all).", short="-n")


@command(DecisionsOptions)
def decisions(context: Context, options: DecisionsOptions) -> None:
    """List decisions."""
    overview = context.overview
    reader = overview.reader
    topic = reader.find(options.topic) if options.topic else ""
    query = decision_views.DecisionQuery(topic, options.since, options.limit)
    page = decision_views.decisions(
        context.search_engine(overview), overview, query, now_ms()
    )
    if options.json:
        say_json(page.to_json(context.store))
        return
    style = output_style(context.env)
    say("\n".join(entrytext.hit_text(hit, style) for hit in page.hits))
    if not page.hits:
        remark("No decisions. Record one: wc say TOPIC --kind decision -m '…'")
    if page.more:
        named = f" {quoted(one_line(options.topic))}" if options.topic else ""
        remark(f"{page.more} more: wc decisions{named}")
    if page.unreadable:
        topics = ", ".join(one_line(name) for name in page.unreadable)
        remark(f"not read: {topics} (see: wc doctor)")
