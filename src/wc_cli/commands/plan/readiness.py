"""``wc ready``, ``wc why`` and ``wc tree``: which threads can be started, and what
blocks the others."""

from __future__ import annotations

from wc_cli.commands.common import SpeakerOptions
from wc_cli.run.options import argument, command, flag
from wc_cli.run.output import remark, say, say_json
from wc_cli.run.terminal import plan as plan_rendering
from wc_cli.run.terminal import render
from wc_cli.run.terminal.style import output_style
from wc_core.base.errors import ConflictError, InvalidInputError
from wc_core.base.names import parse
from wc_core.ledger.planning.gates import stopped_by_older
from wc_core.ledger.threads.proposals import Draft
from wc_core.reading.views import planning
from wc_core.reading.views.rows import Filter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from wc_cli.run.context import Context


class ReadyOptions(SpeakerOptions):
    """List the threads that you can go on with: open, the ball yours or free, and not
    waiting for an open thread; or with a question to you. With TOPIC, show why it is
    not ready."""

    topic: str = argument("TOPIC", "Only this thread.", complete="topic", default="")
    anyway: bool = flag(
        "--anyway", help="With TOPIC: no longer wait for a budget of an older wc."
    )
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
    """List what is ready, or show why a thread is not."""
    if options.topic:
        if options.anyway:
            _end_older_stop(context, options.topic)
        _show_chain(context, options.topic, in_json=options.json)
        return
    if options.anyway:
        raise InvalidInputError("--anyway is about a thread.", "Name it: TOPIC")
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
    _show_chain(context, options.topic, in_json=options.json)


def _end_older_stop(context: Context, topic: str) -> None:
    """Let a thread go on that an older wc stopped."""
    state = context.reader.snapshot(context.reader.find(topic)).state
    stop = stopped_by_older(state.gates)
    if not stop:
        raise ConflictError(
            f"{state.name} is not stopped by an older wc.",
            f"Nothing was written. See what it waits for: wc ready {state.name}",
        )
    is_agents = state.ball is None or context.settings.directory.is_agent(
        parse(state.ball)
    )
    if not context.is_person or not (is_agents or context.viewer.holds(state.ball)):
        raise ConflictError(
            f"{state.name} waits for {stop}; only a person who has its ball, or whose "
            "agent has it, ends that.",
            f"Ask them to type: wc ready {state.name} --anyway",
        )
    draft = Draft(state.topic, "ack", f"No longer waits for {stop}", anyway=True)
    context.writer().write(draft, context.source)


def _show_chain(context: Context, topic: str, *, in_json: bool) -> None:
    chain = planning.chain_of(context.overview.plan(), context.reader.find(topic))
    if in_json:
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
