"""``wc ready``, ``wc why`` and ``wc tree``: which threads can be started, and what
blocks the others."""

from __future__ import annotations

from wc_cli.commands.common import SpeakerOptions
from wc_cli.run.options import argument, command, flag
from wc_cli.run.output import remark, say, say_json
from wc_cli.run.terminal import plan as plan_rendering
from wc_cli.run.terminal import render
from wc_cli.run.terminal.style import output_style
from wc_core.reading.views import planning
from wc_core.reading.views.rows import Filter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from wc_cli.run.context import Context


class ReadyOptions(SpeakerOptions):
    """List the threads that you can go on with: open, the ball yours or free, and not
    waiting for an open thread; or with a question to you."""

    mine: bool = flag("--mine", help="Only threads that wait for you.")


class WhyOptions(SpeakerOptions):
    """Show why a thread is not ready: what it waits for, and who has the ball there."""

    topic: str = argument("TOPIC", "The thread.", complete="topic")


class TreeOptions(SpeakerOptions):
    """Show threads with their parts, sidequests and what they wait for."""

    topic: str = argument(
        "TOPIC", "Only this thread and its parts.", complete="topic", default=""
    )


@command(ReadyOptions)
def ready(context: Context, options: ReadyOptions) -> None:
    """List what is ready."""
    context.remember()
    criteria = Filter(due=options.mine, ready=True)
    page = context.overview.page(criteria, 0)
    if options.json:
        say_json(page.to_json(context.store))
        return
    say(render.thread_list(context, page.rows))
    if not page.rows:
        remark("Nothing is ready. See what waits for what: wc tree")


@command(WhyOptions)
def why(context: Context, options: WhyOptions) -> None:
    """Show why a thread is not ready."""
    topic = context.reader.find(options.topic)
    chain = planning.chain_of(context.overview.plan(), topic)
    if options.json:
        say_json({"store": context.store} | chain.to_json())
        return
    say(plan_rendering.chain_text(chain, output_style(context.env)))


@command(TreeOptions)
def tree(context: Context, options: TreeOptions) -> None:
    """Show the plan."""
    topic = context.reader.find(options.topic) if options.topic else ""
    view = planning.tree_of(context.overview.plan(), topic)
    if options.json:
        fields: dict[str, Any] = {"store": context.store}
        say_json(fields | view.to_json())
        return
    say(plan_rendering.tree_text(view, output_style(context.env)))
    if not view.nodes:
        remark("No thread has a link. Link them: wc link B waits-for A")
