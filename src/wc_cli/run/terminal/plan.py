"""What threads wait for, as terminal text: other threads, and gates of
older versions."""

from __future__ import annotations

from wc_cli.run.terminal.labels import says_more, shown_waits
from wc_cli.run.terminal.style import terminal_width
from wc_cli.run.widths import cut_to_width
from wc_core.base.text import one_line
from wc_core.ledger.threads.model import CLOSED, OPEN, holder_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from wc_cli.run.terminal.style import Style
    from wc_core.reading.views.planning import Chain, Tree, TreeNode

_BOLD, _DIM = "1", "2"
_MAX_TITLE = 80


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
