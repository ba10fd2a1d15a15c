"""``wc graph`` prints which files of a worktree use which."""

from __future__ import annotations

from wc_cli.commands.common import SpeakerOptions
from wc_cli.commands.edits.neighbors import graph_source, unknown_error
from wc_cli.commands.edits.targets import targets_of
from wc_cli.run.options import command, text, words
from wc_cli.run.output import remark, say, say_json
from wc_core.base.errors import InvalidInputError
from wc_core.base.phrases import counted
from wc_core.base.times import rfc3339
from wc_core.reading.views.drawing import dependencies

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wc_cli.run.context import Context
    from wc_core.edits.graph.model import Graph

MERMAID, JSON, SVG = "mermaid", "json", "svg"
_FORMATS = (MERMAID, JSON, SVG)


class GraphOptions(SpeakerOptions):
    """Print which files use which, as a diagram or as JSON. If there are many, folders
    are drawn instead."""

    paths: tuple[str, ...] = words(
        "PATH...", "Only these files and folders, and their neighbours.", default=()
    )
    format: str = text("--format", "FORMAT", "mermaid, json or svg.", default=MERMAID)


@command(GraphOptions)
def graph(context: Context, options: GraphOptions) -> None:
    """Print the graph."""
    if options.format not in _FORMATS:
        raise InvalidInputError(
            f"{options.format!r} is not a graph format.",
            f"Use {', '.join(_FORMATS)}.",
        )
    targets = targets_of(context, options.paths)
    whole = graph_source(context).graph()
    for target in targets:
        if not whole.files_of(target.path):
            raise unknown_error(target)
    part = whole.part(target.path for target in targets) if targets else whole
    if options.json or options.format == JSON:
        say_json({"at": rfc3339(part.at_ms), "files": part.to_json()})
        return
    _draw(part, options.format)


def _draw(part: Graph, form: str) -> None:
    diagram = dependencies.diagram_of(part)
    say(dependencies.svg(diagram) if form == SVG else dependencies.mermaid(diagram))
    if not diagram.is_files:
        count = counted(len(part.uses), "file")
        remark(f"note: {count}, drawn as folders; fewer: wc graph PATH")
