"""Diagrams of graphs."""

from __future__ import annotations

from xml.etree import ElementTree as ET

import pytest

from wc_core.edits.graph.model import Graph
from wc_core.reading.views.drawing import dependencies
from wc_core.reading.views.drawing.dependencies import MAX_NODES, Diagram

SMALL = Graph({"b.py": {"a.py": ("f",)}, "a.py": {"c.py": ()}, "c.py": {}, "x.py": {}})
CIRCLE = Diagram({"a": ("b",), "b": ("c",), "c": ("a", "b")})
HOSTILE = '"]; click n0 "javascript:x" <script>&\n\x1b[31m'
SVG = "{http://www.w3.org/2000/svg}"


def test_a_flowchart_has_the_files_with_neighbours() -> None:
    diagram = dependencies.diagram_of(SMALL)
    assert dependencies.mermaid(diagram).splitlines() == [
        "flowchart LR",
        '  n0["b.py"]',
        '  n1["a.py"]',
        '  n2["c.py"]',
        "  n0 --> n1",
        "  n1 --> n2",
    ]


def test_many_files_are_drawn_as_folders() -> None:
    uses = {f"src/f{n % 5}/{n}.py": {"top.py": ("f",)} for n in range(MAX_NODES)}
    diagram = dependencies.diagram_of(Graph({**uses, "top.py": {}}))
    assert not diagram.is_files
    assert diagram.nodes == {
        "./": (),
        **{f"src/f{number}/": ("./",) for number in range(5)},
    }
    deep = {f"d{n}/a/f.py": {"d0/a/f.py": ()} for n in range(2 * MAX_NODES)}
    diagram = dependencies.diagram_of(Graph(deep))
    assert len(diagram.nodes) == 2 * MAX_NODES


@pytest.mark.parametrize(
    "diagram",
    [dependencies.diagram_of(SMALL), CIRCLE, Diagram({}), Diagram({HOSTILE: ()})],
)
def test_a_picture_is_a_document_with_a_box_for_each(diagram: Diagram) -> None:
    picture = dependencies.svg(diagram)
    root = ET.fromstring(picture)
    boxes = [box for box in root.iter(f"{SVG}rect") if box.get("class") == "node"]
    assert len(boxes) == len(diagram.nodes)
    places = {(box.get("x"), box.get("y")) for box in boxes}
    assert len(places) == len(boxes)
    arrows = [path for path in root.iter(f"{SVG}path") if path.get("marker-end")]
    assert len(arrows) == sum(map(len, diagram.nodes.values()))
    assert "<script" not in picture


def test_what_is_used_stands_to_the_right() -> None:
    root = ET.fromstring(dependencies.svg(dependencies.diagram_of(SMALL)))
    left = {text.text: float(text.get("x", 0)) for text in root.iter(f"{SVG}text")}
    assert left["b.py"] < left["a.py"] < left["c.py"]


def test_a_label_cannot_leave_its_quotes() -> None:
    (line,) = dependencies.mermaid(Diagram({HOSTILE: ()})).splitlines()[1:]
    assert line.startswith('  n0["#34;#93;')
    assert line.count('"') == 2
    assert "<" not in line
