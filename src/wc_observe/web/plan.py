"""The plan page: which threads belong to which, and which wait for which."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wc_core.base.phrases import counted
from wc_core.base.text import one_line
from wc_core.base.times import with_local_times
from wc_core.ledger.threads.model import CLOSED, OPEN, holder_text
from wc_core.reading.views import planning
from wc_core.reading.views.drawing import plangraph
from wc_core.reading.views.drawing.plangraph import BOX_HEIGHT, BOX_WIDTH
from wc_observe.web.html import NOTHING, Html, element, joined
from wc_observe.web.page import WebPage, holder_person, more_link, status_mark

if TYPE_CHECKING:
    from wc_core.ledger.planning.readiness import ThreadPlan
    from wc_core.reading.views.drawing.plangraph import PlanArrow, PlanBox, PlanPicture
    from wc_core.reading.views.planning import Tree, TreeNode
    from wc_observe.callers.open_store import OpenStore
    from wc_observe.web.page import PageContext

_NODES, _REASONS = 300, 20
_TITLE, _NAME, _STATE = 160, 19, 23
_NO_LINKS = "No thread has a link. To link two threads: "


def plan_page(store: OpenStore, context: PageContext, topic: str) -> WebPage:
    """Returns the plan of the store or of one thread: what it waits for, what waits for
    it and its parts.

    Raises NotFoundError for a thread that does not exist.
    """
    topic = store.reader.find(topic) if topic else ""
    plan = planning.plan_of(store.overview.rows(), context.now_ms)
    tree = planning.tree_of(plan, topic)
    head = _topic_head(plan, topic, context) if topic else _plan_head(plan, tree)
    main = joined(
        (
            head,
            _graph(plan, plangraph.picture(plan, topic), topic, context),
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
    states = [_state(plan, topic)[0] for topic in linked]
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


def _state(plan: ThreadPlan, topic: str) -> tuple[str, str]:
    """The state of a thread for the viewer: its style name, and a description."""
    thread = plan.threads.get(topic)
    if thread is None:
        return "missing", "not in this store"
    if thread.status == CLOSED:
        return "closed", "closed"
    holder = one_line(holder_text(thread.ball))
    if waits := plan.waits(topic):
        words = waits[0].words if len(waits) == 1 else str(len(waits))
        return "waits", f"waits for {with_local_times(one_line(words))}"
    if plan.is_ready(topic):
        return "ready", f"ready · {holder}"
    status = "" if thread.status == OPEN else f"{_words(thread.status)} · "
    return "busy", f"{status}{holder}"


def _words(status: str) -> str:
    return one_line(status).replace("_", " ").lower()


# --- the picture ------------------------------------------------------------------


def _graph(
    plan: ThreadPlan, picture: PlanPicture, topic: str, context: PageContext
) -> Html:
    if not picture.boxes:
        return NOTHING
    drawing = element(
        "svg",
        _tip(),
        *(_arrow(arrow, line) for arrow, line in picture.arrows),
        *(
            _box(plan, box, context, is_current=box.topic == topic)
            for box in picture.boxes
        ),
        width=picture.width,
        height=picture.height,
        role="group",
        aria_label="Threads, from first to last",
        viewBox=f"0 0 {picture.width} {picture.height}",
    )
    hidden = f"{counted(picture.hidden, 'more thread')}, not drawn."
    return joined(
        (
            element("h2", "What waits for what"),
            element(
                "p",
                "An arrow leads to what comes later; a dashed arrow from a part to its "
                "whole.",
                class_="none",
            ),
            # It may be wider than the page, so the keyboard must be able to scroll it.
            element(
                "div",
                drawing,
                class_="plan",
                tabindex=0,
                role="region",
                aria_label="What waits for what",
            ),
            element("p", hidden, class_="none") if picture.hidden > 0 else NOTHING,
        )
    )


def _tip() -> Html:
    marker = element(
        "marker",
        element("path", class_="tip", d="M0 0L8 4L0 8z"),
        id="tip",
        orient="auto",
        viewBox="0 0 8 8",
        refX=8,
        refY=4,
        markerWidth=8,
        markerHeight=8,
    )
    return element("defs", marker)


def _arrow(arrow: PlanArrow, line: str) -> Html:
    return element(
        "path",
        d=line,
        class_="arrow part" if arrow.is_part else "arrow",
        marker_end="url(#tip)",
    )


def _box(
    plan: ThreadPlan, box: PlanBox, context: PageContext, *, is_current: bool
) -> Html:
    style, words = _state(plan, box.topic)
    style += " current" if is_current else ""
    thread = plan.threads.get(box.topic)
    name = plan.name(box.topic)
    title = f"{name}: {thread.title}" if thread else name
    parts = (
        element("title", f"{one_line(title, _TITLE)} ({words})"),
        element("rect", x=box.x, y=box.top, width=BOX_WIDTH, height=BOX_HEIGHT, rx=6),
        element("text", one_line(name, _NAME), x=box.x + 10, y=box.top + 18),
        element(
            "text",
            one_line(words, _STATE),
            x=box.x + 10,
            y=box.top + 34,
            class_="state",
        ),
    )
    if thread is None:
        return element("g", *parts, class_=f"box {style}")
    href = context.links.thread(box.topic)
    return element("a", *parts, href=href, class_=f"box {style}")


# --- the tree ---------------------------------------------------------------------


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
        names = with_local_times(", ".join(map(one_line, node.waits[:_REASONS])))
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
