"""``wc neighbors`` shows which files of a worktree use which."""

from __future__ import annotations

from wc_cli.commands.edits.targets import repository_of, targets_of
from wc_cli.edits.claims import existing
from wc_cli.edits.graph.computing import GraphSource
from wc_cli.run.options import Options, argument, command
from wc_cli.run.output import say, say_json
from wc_cli.run.terminal import edits as edits_rendering
from wc_cli.run.terminal.style import output_style
from wc_core.base.errors import NotFoundError
from wc_core.base.layout import Layout
from wc_core.base.times import rfc3339
from wc_core.edits.graph import parsing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wc_cli.run.context import Context
    from wc_core.edits.claims.ids import ClaimId


class NeighborsOptions(Options):
    """Show which files use a file, and which it uses; for a symbol, which files use it
    by name."""

    target: str = argument("TARGET", "A file, a folder, or PATH::SYMBOL.")


@command(NeighborsOptions)
def neighbors(context: Context, options: NeighborsOptions) -> None:
    """Show the neighbours of a file."""
    (target,) = targets_of(context, [options.target])
    graph = graph_source(context).graph()
    existing.require_symbols(repository_of(context).top, [target])
    neighbourhood = graph.neighbourhood(target.path, target.symbol)
    if neighbourhood is None:
        raise unknown_error(target)
    if options.json:
        fields = {"target": str(target), "at": rfc3339(graph.at_ms)}
        say_json(fields | neighbourhood.to_json())
        return
    style = output_style(context.env)
    say(edits_rendering.neighbors_text(str(target), neighbourhood, style))


def graph_source(context: Context) -> GraphSource:
    """The graph of this worktree and how it is computed."""
    layout = Layout(context.place.root) if context.place.exists else None
    return GraphSource(repository_of(context), layout, context.env)


def unknown_error(target: ClaimId) -> NotFoundError:
    """The error for a target whose neighbours cannot be known."""
    why = parsing.obstacle(target.path) or "git has no such file here"
    return NotFoundError(
        f"The neighbours of {target.path} are unknown: {why}.",
        "wc parses Python, JavaScript and TypeScript files that git does not ignore.",
    )
