"""The plan page: which threads belong to which, and which wait for which."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wc_core.base.phrases import counted
from wc_core.base.text import one_line
from wc_core.ledger.threads.model import CLOSED, OPEN
from wc_core.reading.views import planning
from wc_observe.web.html import NOTHING, Html, element, joined
from wc_observe.web.page import WebPage, holder_person, more_link, status_mark

if TYPE_CHECKING:
    from wc_core.ledger.planning.readiness import ThreadPlan
    from wc_core.reading.views.planning import Tree, TreeNode
    from wc_observe.callers.open_store import OpenStore
    from wc_observe.web.page import PageContext

_NODES, _REASONS = 300, 20
_TITLE = 160
_NO_LINKS = "No thread has a link. To link two threads: "


def plan_page(store: OpenStore, context: PageContext, topic: str) -> WebPage:
    """Returns the plan of the store or of one thread: what it waits for, what waits for
    it and its parts.

    Raises NotFoundError for a thread that does not exist.
    """
    topic = store.reader.find(topic) if topic else ""
    plan = planning.plan_of(store.overview.rows())
    tree = planning.tree_of(plan, topic)
    head = _topic_head(plan, topic, context) if topic else _plan_head(plan, tree)
    main = joined(
        (
            head,
            _tree(tree, context) if tree.nodes else NOTHING,
            _ignored(tree),
        )
    )
    title = f"Plan of {one_line(plan.name(topic))}" if topic else "Plan"
    up = context.links.thread(topic) if topic else ""
    return WebPage(title, main, "plan", up=up)


def _plan_head(plan: ThreadPlan, tree: Tree) -> Html:
    if not tree.nodes:
        example = element("code", "wc link B waits-for A")
        return joined(
            (element("h1", "Plan"), element("p", _NO_LINKS, example, class_="none"))
        )
    linked = {thread.topic for thread in plan.threads.values() if thread.links}
    linked |= {
        link.topic for thread in plan.threads.values() for link in thread.links
    } & plan.threads.keys()
    states = [_state(plan, topic) for topic in linked]
    facts = [
        counted(len(linked), "linked thread"),
        f"{states.count('ready')} ready for you",
        f"{states.count('waits')} waiting",
        f"{states.count('closed')} closed",
    ]
    return joined((element("h1", "Plan"), element("p", " · ".join(facts))))


def _topic_head(plan: ThreadPlan, topic: str, context: PageContext) -> Html:
    name = one_line(plan.name(topic))
    thread = plan.threads[topic]
    obstacles = plan.obstacles(topic)
    lines = [element("li", one_line(item.text)) for item in obstacles[:_REASONS]]
    reasons: Html = element("p", element("span", "ready", class_="mark ready"))
    if thread.status == CLOSED:
        reasons = element("p", status_mark(CLOSED))
    elif lines:
        reasons = joined((element("p", "Not ready:"), element("ul", *lines)))
    link = element("a", element("bdi", name), href=context.links.thread(topic))
    return joined(
        (
            element("h1", "Plan of ", link),
            element("p", one_line(thread.title, _TITLE), class_="title", dir="auto"),
            reasons,
            more_link(context.links.plan(), "The complete plan"),
        )
    )


def _state(plan: ThreadPlan, topic: str) -> str:
    """The state of a thread for the viewer."""
    if not plan.is_open(topic):
        return "closed"
    if plan.waits(topic):
        return "waits"
    return "ready" if plan.is_ready(topic) else "busy"


class _Room:
    """How many more threads may be shown."""

    def __init__(self, most: int) -> None:
        self.left = most
        self.hidden = 0

    def takes(self) -> bool:
        """Return whether there is room for another thread."""
        self.left -= 1
        self.hidden += self.left < 0
        return self.left >= 0


def _tree(tree: Tree, context: PageContext) -> Html:
    room = _Room(_NODES)
    items = [_node(node, room, context) for node in tree.nodes]
    hidden = f"{counted(room.hidden, 'more thread')}: wc tree"
    return joined(
        (
            element("h2", "Threads and their parts"),
            element("ul", *items, class_="tree"),
            element("p", hidden, class_="none") if room.hidden else NOTHING,
        )
    )


def _node(node: TreeNode, room: _Room, context: PageContext) -> Html:
    if not room.takes():
        for lower in node.nodes:
            _node(lower, room, context)
        return NOTHING
    thread = node.thread
    title = one_line(thread.title, _TITLE) or one_line(thread.name)
    name = element("bdi", one_line(thread.name), class_="topic")
    marks = []
    if node.kind == "sidequest":
        marks.append(element("span", "sidequest", class_="mark"))
    if node.is_ready:
        marks.append(element("span", "ready", class_="mark ready"))
    if thread.status != OPEN:
        marks.append(status_mark(thread.status))
    if node.waits:
        names = ", ".join(map(one_line, node.waits[:_REASONS]))
        marks.append(element("span", f"waits for {names}", class_="mark waits"))
    holder = NOTHING
    if thread.status != CLOSED:
        holder = holder_person(thread.ball, context.directory)
    href = context.links.thread(thread.topic)
    facts = (
        element("a", title, href=href, data_item=True, class_="title", dir="auto"),
        name,
        *marks,
        element("span", holder, class_="count"),
    )
    line = element("div", joined(facts, " "))
    below = [_node(item, room, context) for item in node.nodes]
    inner = element("ul", *below) if below else NOTHING
    style = "closed" if thread.status == CLOSED else ""
    return element("li", line, inner, class_=style)


def _ignored(tree: Tree) -> Html:
    """The links that are ignored."""
    if not tree.ignored:
        return NOTHING
    reason = "These links would close a cycle with earlier ones, and are ignored: "
    names = "; ".join(map(one_line, tree.ignored[:_REASONS]))
    return element(
        "div",
        element("p", element("b", "Cycle. "), reason, names, "."),
        class_="notice",
    )
