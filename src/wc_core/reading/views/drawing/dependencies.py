"""Draws a graph as a Mermaid flowchart or as an SVG picture.

A diagram of hundreds of files is unreadable, so they are drawn as folders, as deep as
there is room for.
"""

from __future__ import annotations

import os

from wc_core.base.text import one_line
from wc_core.base.values import NamedTuple
from wc_core.reading.views.drawing.timelinesvg import escaped

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from wc_core.edits.graph.model import Graph

MAX_NODES = 60
_MAX_LABEL = 60
_ROW, _COLUMN_GAP, _LETTER, _PADDING, _MARGIN = 34, 70, 7.0, 10, 16
_BOX = 22
_STYLE = """\
.wcg{font:12px ui-monospace,monospace}
.wcg text{fill:#1f2328;white-space:pre;unicode-bidi:isolate}
.wcg .paper{fill:#fff}.wcg rect.node{fill:#f6f8fa;stroke:#d1d9e0}
.wcg path{fill:none;stroke:#59636e;stroke-opacity:.5}.wcg .tip{fill:#59636e}
@media (prefers-color-scheme:dark){.wcg text{fill:#e6edf3}
.wcg .paper{fill:#0d1117}.wcg rect.node{fill:#151b23;stroke:#3d444d}
.wcg path{stroke:#9198a1}.wcg .tip{fill:#9198a1}}
"""
_TIP = (
    '<defs><marker id="tip" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7"'
    ' markerHeight="7" orient="auto"><path class="tip" d="M0 0L8 4L0 8z"/>'
    "</marker></defs>"
)


class Diagram(NamedTuple):
    """The content of a drawing: nodes, each with those that it points to. ``is_files``
    is false if folders stand for their files."""

    nodes: Mapping[str, tuple[str, ...]]
    is_files: bool = True


class _NodePlace(NamedTuple):
    """The place of a node: its left and upper edge, and its width."""

    x: float
    top: float
    width: float


def diagram_of(graph: Graph) -> Diagram:
    """The files of a graph that have neighbours, or folders if there are many."""
    linked = {user for user, row in graph.uses.items() if row}
    linked |= {target for row in graph.uses.values() for target in row}
    nodes = {user: tuple(graph.uses[user]) for user in graph.uses if user in linked}
    if len(nodes) <= MAX_NODES:
        return Diagram(nodes)
    deepest = max(path.count("/") for path in nodes)
    for depth in range(deepest, 0, -1):
        folders = _folded(nodes, depth)
        if len(folders) <= MAX_NODES or depth == 1:
            return Diagram(folders, is_files=False)
    return Diagram(nodes)


def _folded(
    nodes: Mapping[str, Iterable[str]], depth: int
) -> dict[str, tuple[str, ...]]:
    """The folders of the nodes, with at most this many parts."""
    folders: dict[str, set[str]] = {}
    for user, targets in nodes.items():
        folder = _folder(user, depth)
        row = folders.setdefault(folder, set())
        row.update(_folder(target, depth) for target in targets)
        row.discard(folder)
    return {folder: tuple(sorted(row)) for folder, row in sorted(folders.items())}


def _folder(path: str, depth: int) -> str:
    parts = os.path.dirname(path).split("/")[:depth]
    return f"{'/'.join(parts)}/" if parts != [""] else "./"


def mermaid(diagram: Diagram) -> str:
    """The flowchart of a diagram: each node points to what it uses."""
    numbers = {name: number for number, name in enumerate(diagram.nodes)}
    lines = ["flowchart LR"]
    lines += [f'  n{number}["{_label(name)}"]' for name, number in numbers.items()]
    lines += [
        f"  n{numbers[name]} --> n{numbers[target]}"
        for name, targets in diagram.nodes.items()
        for target in targets
    ]
    return "\n".join(lines)


def _label(name: str) -> str:
    """A name in a quoted text of Mermaid, which is Markdown and HTML."""
    text = _shortened(name)
    signs = {sign: f"#{ord(sign)};" for sign in '"#&;<>`*_~[](){}|\\'}
    return "".join(signs.get(character, character) for character in text)


def svg(diagram: Diagram) -> str:
    """The picture of a diagram: columns, in which each node is to the right of those
    that use it."""
    boxes = _placed(_columns(diagram.nodes))
    width = max((box.x + box.width for box in boxes.values()), default=0) + _MARGIN
    height = max((box.top for box in boxes.values()), default=0) + _BOX + _MARGIN
    size = f'viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}"'
    noun = "files" if diagram.is_files else "folders"
    about = f'role="img" aria-label="Which {noun} use which"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="wcg" {size} {about}>',
        f"<style>{_STYLE}</style>",
        _TIP,
        f'<rect class="paper" width="{width:.0f}" height="{height:.0f}"/>',
    ]
    for name, targets in diagram.nodes.items():
        parts += [_arrow(boxes[name], boxes[target]) for target in targets]
    for name, box in boxes.items():
        parts += _node(name, box)
    return "\n".join([*parts, "</svg>", ""])


def _columns(nodes: Mapping[str, tuple[str, ...]]) -> list[list[str]]:
    """The nodes by column: each is to the right of those that use it, unless files use
    each other in a circle."""
    order = _in_order(nodes)
    position = {name: number for number, name in enumerate(order)}
    column = dict.fromkeys(order, 0)
    for name in order:
        for target in nodes[name]:
            if position[target] > position[name]:
                column[target] = max(column[target], column[name] + 1)
    columns: list[list[str]] = [[] for _ in range(max(column.values(), default=-1) + 1)]
    for name in sorted(nodes):
        columns[column[name]].append(name)
    return columns


def _in_order(nodes: Mapping[str, tuple[str, ...]]) -> list[str]:
    """The nodes, each before those that it uses, as far as there is no circle."""
    ended: dict[str, None] = {}
    for start in nodes:
        path, visited = [(start, iter(nodes[start]))], {start}
        while path and start not in ended:
            name, targets = path[-1]
            target = next(
                (item for item in targets if item not in visited | ended.keys()), None
            )
            if target is None:
                ended[name] = None
                path.pop()
            else:
                visited.add(target)
                path.append((target, iter(nodes[target])))
    return list(reversed(ended))


def _placed(columns: list[list[str]]) -> dict[str, _NodePlace]:
    boxes: dict[str, _NodePlace] = {}
    x = float(_MARGIN)
    for names in columns:
        width = max(len(_shortened(name)) for name in names) * _LETTER + 2 * _PADDING
        for number, name in enumerate(names):
            boxes[name] = _NodePlace(x, _MARGIN + number * _ROW, width)
        x += width + _COLUMN_GAP
    return boxes


def _arrow(user: _NodePlace, target: _NodePlace) -> str:
    """The line from one node to another, starting at the right edge."""
    start, end = user.x + user.width, target.x
    first, second = user.top + _BOX / 2, target.top + _BOX / 2
    bend = max(_COLUMN_GAP / 2, abs(end - start) / 2)
    return (
        f'<path marker-end="url(#tip)" d="M{start:.0f} {first:.0f}'
        f"C{start + bend:.0f} {first:.0f} {end - bend:.0f} {second:.0f}"
        f' {end:.0f} {second:.0f}"/>'
    )


def _node(name: str, box: _NodePlace) -> Iterator[str]:
    place = f'x="{box.x:.0f}" y="{box.top:.0f}"'
    yield (
        f'<rect class="node" rx="5" {place} width="{box.width:.0f}" height="{_BOX}">'
        f"<title>{escaped(name)}</title></rect>"
    )
    text = f'x="{box.x + _PADDING:.0f}" y="{box.top + 15:.0f}"'
    yield f"<text {text}>{escaped(_shortened(name))}</text>"


def _shortened(name: str) -> str:
    """A name that fits into a box: its end, which distinguishes it best."""
    text = one_line(name)
    return text if len(text) <= _MAX_LABEL else f"…{text[1 - _MAX_LABEL :]}"
