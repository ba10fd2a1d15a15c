"""A plan as a markdown list: items are threads, items below them are their parts, and
items with a box below a thread are its checklist.

    - db: A table of passkeys
    - Register a passkey (after db) @Codex
      What the server has to do.
      - [ ] check the origin
      - errors: Say what went wrong

Headings and other text outside of items are left out.
"""

from __future__ import annotations

import re

from wc_core.base.errors import InvalidInputError
from wc_core.base.layout import nearest_slug, new_topic
from wc_core.base.values import NamedTuple
from wc_core.ledger.threads import vocabulary

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_ITEM = re.compile(r"(\s*)(?:[-*+]|\d+[.)])\s+(?:\[([ xX])\]\s+)?(\S.*)")
_AFTER = re.compile(
    r"\s*\((?:after|waits[ -]for|needs|depends[ -]on|blocked[ -]by):?\s+([^()]+)\)",
    re.IGNORECASE,
)
_HOLDER = re.compile(r"\s+@(?:\"([^\"]+)\"|([^\s@\"]\S*))(?=\s|$)")
_TOPIC = re.compile(r"[`*]*([^\s:`*]+)[`*]*:[`*]*\s+(\S.*)")
_SEPARATOR = re.compile(r"\s*,\s*(?:and\s+)?|\s+and\s+")
_TAB = 4


class PlannedStep(NamedTuple):
    """An item of a checklist."""

    text: str
    is_done: bool = False


class PlannedItem(NamedTuple):
    """A thread of a plan file, from the line ``number``.

    ``holder`` is who gets its ball, empty for anyone. ``blockers`` are the threads it
    waits for, as written; ``parent`` is the topic of the thread it is part of.
    """

    number: int
    topic: str
    title: str
    parent: str = ""
    body: str = ""
    holder: str = ""
    blockers: tuple[str, ...] = ()
    steps: tuple[PlannedStep, ...] = ()
    is_done: bool = False


class _Node:
    """An item of the list, with the items and text below it."""

    def __init__(self, number: int, box: str | None, text: str) -> None:
        self.number = number
        self.box = box
        self.text = text
        self.lines: list[str] = []
        self.nodes: list[_Node] = []


def parse(text: str) -> list[PlannedItem]:
    """The threads of a plan, each after the one that it is part of. Raises
    InvalidInputError, with the number of the line."""
    items = list(_items(_nodes(text), ""))
    if not items:
        raise InvalidInputError(
            "It contains no list.",
            "Write a thread on each line: - api: Register a passkey (after db)",
        )
    numbers: dict[str, int] = {}
    for item in items:
        earlier = numbers.setdefault(item.topic, item.number)
        if earlier != item.number:
            raise InvalidInputError(
                f"Line {item.number}: {item.topic} is already on line {earlier}.",
                "Give one of them another topic: - topic: Title",
            )
    return items


def _nodes(text: str) -> list[_Node]:
    """The items at the top of a list."""
    top: list[_Node] = []
    open_nodes: list[tuple[int, _Node]] = []
    for number, line in enumerate(text.expandtabs(_TAB).splitlines(), 1):
        match = _ITEM.fullmatch(line.rstrip())
        if match is None:
            _add_text(line, open_nodes)
            continue
        indent, box, words = match.groups()
        while open_nodes and open_nodes[-1][0] >= len(indent):
            open_nodes.pop()
        node = _Node(number, box, words)
        (open_nodes[-1][1].nodes if open_nodes else top).append(node)
        open_nodes.append((len(indent), node))
    return top


def _add_text(line: str, open_nodes: list[tuple[int, _Node]]) -> None:
    """Add a line that is not an item to the item that it is indented below; a line that
    is not indented ends them all."""
    if line.strip() and not line.startswith(" "):
        open_nodes.clear()
    while open_nodes and line.strip():
        indent = open_nodes[-1][0]
        if len(line) - len(line.lstrip()) > indent:
            break
        open_nodes.pop()
    if open_nodes:
        open_nodes[-1][1].lines.append(line.strip())


def _items(nodes: Iterable[_Node], parent: str) -> Iterator[PlannedItem]:
    for node in nodes:
        steps = [lower for lower in node.nodes if _is_step(lower)]
        try:
            item = _item(node, parent)
            texts = tuple(
                PlannedStep(vocabulary.item(_step_text(step)), step.box != " ")
                for step in steps
            )
        except InvalidInputError as error:
            message = f"Line {node.number}: {error.message}"
            raise InvalidInputError(message, error.hint) from error
        yield item._replace(steps=texts)
        parts = [lower for lower in node.nodes if not _is_step(lower)]
        yield from _items(parts, item.topic)


def _is_step(node: _Node) -> bool:
    """Whether an item below a thread belongs to its checklist: it has a box, and
    nothing below it."""
    return node.box is not None and not node.nodes


def _step_text(node: _Node) -> str:
    return " ".join([node.text, *filter(None, node.lines)])


def _item(node: _Node, parent: str) -> PlannedItem:
    blockers = [
        name.strip("`")
        for names in _AFTER.findall(node.text)
        for name in _SEPARATOR.split(names.strip())
        if name
    ]
    words = _AFTER.sub("", node.text)
    holders = [quoted or name for quoted, name in _HOLDER.findall(words)]
    if len(holders) > 1:
        raise InvalidInputError(
            f"a thread has one ball, but {' and '.join(holders)} are named.",
            "Name one holder: @NAME",
        )
    title = _HOLDER.sub("", words).strip()
    match = _TOPIC.fullmatch(title)
    if match is not None and nearest_slug(match[1]) == match[1].casefold():
        topic, title = match.groups()
    else:
        topic = nearest_slug(title)
    return PlannedItem(
        number=node.number,
        topic=new_topic(topic or title),
        title=vocabulary.title(title),
        parent=parent,
        body="\n".join(node.lines).strip(),
        holder=holders[0] if holders else "",
        blockers=tuple(dict.fromkeys(blockers)),
        is_done=node.box not in {None, " "},
    )
