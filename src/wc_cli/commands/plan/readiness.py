"""``wc ready`` and ``wc tree``: which threads can be started, and what blocks the
others."""

from __future__ import annotations

from wc_cli.run.entries import receipts
from wc_cli.run.options import Options, argument, command, flag
from wc_cli.run.output import remark, say, say_json
from wc_cli.run.terminal import render
from wc_cli.run.terminal.labels import says_more, shown_waits
from wc_cli.run.terminal.style import output_style, terminal_width
from wc_cli.run.widths import cut_to_width
from wc_core.base.errors import ConflictError, InvalidInputError
from wc_core.base.text import one_line
from wc_core.ledger.planning.older import stopped_by_older
from wc_core.ledger.threads.model import CLOSED, OPEN, holder_text
from wc_core.ledger.threads.proposals import Draft
from wc_core.reading.views import planning
from wc_core.reading.views.rows import Filter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from wc_cli.run.context import Context
    from wc_cli.run.terminal.style import Style
    from wc_core.reading.views.planning import Chain, Tree, TreeNode

_BOLD, _DIM = "1", "2"
_MAX_TITLE = 80


class ReadyOptions(Options):
    """List the threads that you can go on with: open, the ball yours or free, and not
    waiting for an open thread; or with a question to you. With a topic, say why that
    thread is not ready."""

    topic: str = argument(
        "TOPIC", "Only this thread: why it is not ready.", complete="topic", default=""
    )
    mine: bool = flag("--mine", help="Only threads that wait for you.")
    anyway: bool = flag(
        "--anyway", help="Let TOPIC go on, which an older version has stopped."
    )


class TreeOptions(Options):
    """Show threads with their parts, sidequests and what they wait for."""

    topic: str = argument(
        "TOPIC", "Only this thread and its parts.", complete="topic", default=""
    )


@command(ReadyOptions)
def ready(context: Context, options: ReadyOptions) -> None:
    """List what is ready."""
    if options.anyway:
        _let_go_on(context, options)
    elif options.topic:
        _explain(context, options)
    else:
        _list_ready(context, options)


def _list_ready(context: Context, options: ReadyOptions) -> None:
    context.remember()
    criteria = Filter(due=options.mine, ready=True)
    page = context.overview.page(criteria, 0)
    if options.json:
        say_json(page.to_json(context.store))
        return
    say(render.thread_list(context, page.rows))
    if not page.rows:
        remark("Nothing is ready. See what waits for what: wc tree")


def _explain(context: Context, options: ReadyOptions) -> None:
    """Show why a thread is not ready."""
    topic = context.reader.find(options.topic)
    chain = planning.chain_of(context.overview.plan(), topic)
    if options.json:
        say_json({"store": context.store} | chain.to_json())
        return
    say(chain_text(chain, output_style(context.env)))


def _let_go_on(context: Context, options: ReadyOptions) -> None:
    """Write that a thread goes on which an older version has stopped."""
    if not options.topic:
        raise InvalidInputError("--anyway is about a thread.", "Name it: TOPIC")
    state = context.reader.snapshot(context.reader.find(options.topic)).state
    stop = stopped_by_older(state.gates, state.updated_at)
    if not stop:
        raise ConflictError(
            f"{state.name} waits for nothing of an older wc.",
            f"See what it waits for: wc ready {state.name}",
        )
    if not context.is_person:
        raise ConflictError(
            f"{state.name} waits for {stop}, and only a person lets it go on.",
            f"Ask one to run: wc ready {state.name} --anyway",
        )
    draft = Draft(state.topic, "ready", f"Goes on without waiting for {stop}")
    receipt = context.writer().write(draft, context.source)
    receipt = receipts.settle_after_write(context, receipt, sync=False)
    receipts.print_receipt(receipt, as_json=options.json)


@command(TreeOptions)
def tree(context: Context, options: TreeOptions) -> None:
    """Show the plan."""
    topic = context.reader.find(options.topic) if options.topic else ""
    view = planning.tree_of(context.overview.plan(), topic)
    if options.json:
        fields: dict[str, Any] = {"store": context.store}
        say_json(fields | view.to_json())
        return
    say(tree_text(view, output_style(context.env)))
    if not view.nodes:
        remark("No thread has a link. Link them: wc link B waits-for A")


def chain_text(chain: Chain, style: Style) -> str:
    """Return why a thread is not ready, one line per reason."""
    name = one_line(chain.name)
    if chain.is_ready:
        return style(f"nothing: {name} is ready", _BOLD)
    lines = [style(f"{name} is not ready:", _BOLD)]
    lines += [f"  {line}" for line in _chain_lines(chain)]
    return "\n".join(lines)


def _chain_lines(chain: Chain) -> Iterator[str]:
    for obstacle, behind in chain.reasons:
        ready = ", which is ready" if behind is not None and behind.is_ready else ""
        yield f"{shown_waits(one_line(obstacle.text))}{ready}"
        if behind is not None:
            name = one_line(behind.name)
            for line in _chain_lines(behind):
                yield line if line.startswith(" ") else f"  {name}: {line}"


def tree_text(tree: Tree, style: Style) -> str:
    """Return a line for each thread, indented below the thread that it belongs to,
    followed by the links that do not count."""
    lines = [line for node in tree.nodes for line in _node_lines(node, "", "", style)]
    lines += [
        one_line(f"does not count, it would be a cycle: {sentence}")
        for sentence in tree.ignored
    ]
    return "\n".join(lines)


def _node_lines(node: TreeNode, first: str, below: str, style: Style) -> Iterator[str]:
    """Yield the line of a thread and those below it, which begin with ``first`` and
    with ``below``. On a terminal, branches are drawn and no line wraps."""
    thread, limit = node.thread, terminal_width()
    mark = "✓" if thread.status == CLOSED else ">" if node.is_ready else " "
    waits = shown_waits(", ".join(node.waits))
    facts = [
        thread.name,
        *([f"({node.kind})"] if node.kind == "sidequest" else []),
        *([thread.status] if thread.status != OPEN else []),
        *([holder_text(thread.ball)] if thread.status != CLOSED else []),
        *([f"waits for {waits}"] if waits else []),
        thread.title[:_MAX_TITLE],
    ]
    if limit and not says_more(thread.title, thread.name):
        facts.pop()
    line = f"{mark} {first}{one_line(' · '.join(facts))}"
    code = _BOLD if node.is_ready else _DIM if thread.status == CLOSED else ""
    line = cut_to_width(line, limit) if limit else line
    yield style(line, code) if code else line
    for lower in node.nodes:
        is_last = lower is node.nodes[-1]
        branch, trunk = ("└─ ", "   ") if is_last else ("├─ ", "│  ")
        if not limit:
            branch = trunk = "  "
        yield from _node_lines(lower, below + branch, below + trunk, style)
