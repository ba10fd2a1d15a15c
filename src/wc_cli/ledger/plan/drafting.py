"""The additions of a plan file to a store: new threads, and missing parts of existing
ones."""

from __future__ import annotations

from wc_cli.ledger.plan import checklists
from wc_core.base.errors import ConflictError, NotFoundError
from wc_core.base.values import NamedTuple
from wc_core.ledger.planning import kinds
from wc_core.ledger.planning.graph import OwnedLink
from wc_core.ledger.planning.readiness import PlannedThread, ThreadPlan
from wc_core.ledger.threads.model import OPEN, Link
from wc_core.ledger.threads.proposals import Draft

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from wc_core.ledger.planning.planfile import PlannedItem
    from wc_core.ledger.threads.model import State
    from wc_core.ledger.threads.reader import StoreReader

_NOTHING_WRITTEN = "Nothing was written."
_NEWEST = "~"  # sorts behind every id: earlier links come first


class Addition(NamedTuple):
    """The additions to one thread: its opening, links or steps; nothing if it has them
    all."""

    item: PlannedItem
    topic: str
    is_new: bool
    links: tuple[Link, ...] = ()
    steps: tuple[str, ...] = ()
    done: tuple[str, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether the thread already has everything."""
        return not (self.is_new or self.links or self.steps)

    def drafts(self) -> list[Draft]:
        """The entries to write, in order."""
        item = self.item
        if self.is_new:
            return [
                Draft(
                    self.topic,
                    "new",
                    item.title,
                    item.body,
                    to=item.holder or "anyone",
                    links_added=self.links,
                    items_added=self.steps,
                )
            ]
        drafts = []
        if self.links:
            title = f"Planned: {item.title}"
            drafts.append(Draft(self.topic, "link", title, links_added=self.links))
        if self.steps:
            title = checklists.action_title("To do", self.steps)
            drafts.append(Draft(self.topic, "checklist", title, items_added=self.steps))
        return drafts


def additions(
    reader: StoreReader, plan: ThreadPlan, items: Sequence[PlannedItem]
) -> list[Addition]:
    """The additions to each thread of a plan, blockers first. Items that are done are
    left out. Raises NotFoundError for a thread that is neither in the plan nor in the
    store, ConflictError for a cycle; with the number of the line."""
    topics = {item.topic: _existing(reader, item.topic) for item in items}
    names = {item.topic: topics[item.topic] or item.topic for item in items}
    by_title = {item.title.casefold(): names[item.topic] for item in items}
    states = {topic: reader.snapshot(topic).state for topic in topics.values() if topic}
    added = []
    for item in items:
        if item.is_done:
            continue
        links = tuple(_links(reader, item, {**by_title, **names}))
        state = states.get(names[item.topic])
        added.append(_addition(item, names[item.topic], state, links))
    done = {names[item.topic] for item in items if item.is_done}
    added = [_without(addition, done - states.keys()) for addition in added]
    _check_cycles(plan, added)
    return _in_order(added)


def _existing(reader: StoreReader, topic: str) -> str:
    """The topic of a thread, empty if there is none."""
    try:
        return reader.find(topic)
    except NotFoundError:
        return ""


def _links(
    reader: StoreReader, item: PlannedItem, names: dict[str, str]
) -> Iterable[Link]:
    if item.parent:
        yield Link(kinds.PARENT, names.get(item.parent, item.parent))
    for name in item.blockers:
        planned = names.get(name.casefold())
        try:
            topic = planned or reader.find(name)
        except NotFoundError as error:
            raise NotFoundError(
                f"Line {item.number}: {item.topic} waits for {name}, which is neither "
                "in the plan nor a thread.",
                f"{_NOTHING_WRITTEN} {error.hint}",
            ) from error
        yield Link(kinds.BLOCKED_BY, topic)


def _addition(
    item: PlannedItem, topic: str, state: State | None, links: tuple[Link, ...]
) -> Addition:
    texts = {step.text for step in state.items} if state else set()
    present = {link[:2] for link in state.links} if state else set()
    return Addition(
        item,
        topic,
        state is None,
        tuple(link for link in dict.fromkeys(links) if link[:2] not in present),
        tuple(step.text for step in item.steps if step.text not in texts),
        tuple(step.text for step in item.steps if step.is_done),
    )


def _without(addition: Addition, topics: set[str]) -> Addition:
    """An addition without links to threads that are never written, because they are
    done."""
    links = tuple(link for link in addition.links if link.topic not in topics)
    return addition._replace(links=links)


def _check_cycles(plan: ThreadPlan, added: Iterable[Addition]) -> None:
    new = [
        PlannedThread(a.topic, a.topic, a.item.title, OPEN, None, "")
        for a in added
        if a.is_new
    ]
    whole = ThreadPlan([*plan.threads.values(), *new], plan.now_ms)
    for addition in added:
        for link in addition.links:
            owned = OwnedLink(addition.topic, link._replace(id=_NEWEST))
            path = whole.would_cycle(owned)
            if path or link.topic == addition.topic:
                own = [addition.topic, addition.topic]
                way = " → ".join(own if link.topic == addition.topic else path)
                raise ConflictError(
                    f"Line {addition.item.number} would be a cycle: {way}.",
                    f"{_NOTHING_WRITTEN} Change what {addition.topic} waits for.",
                )
            whole.order.add(owned)


def _in_order(added: list[Addition]) -> list[Addition]:
    """The additions, each after those to which it links."""
    by_topic = {addition.topic: addition for addition in added}
    ordered: dict[str, Addition] = {}
    for start in added:
        pending = [start.topic]
        while pending:
            addition = by_topic[pending[-1]]
            missing = [
                link.topic
                for link in addition.links
                if link.topic in by_topic and link.topic not in ordered
            ]
            if missing:
                pending.append(missing[0])
            else:
                ordered.setdefault(addition.topic, addition)
                pending.pop()
    return list(ordered.values())
