"""What needs a participant, in the repositories of a graph."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wc_core.attention.inbox.items import INPUT, MOVE, OFFERED, InboxItem
from wc_core.base.names import MINE
from wc_core.base.ulid import prefix, timestamp_ms
from wc_core.base.values import NamedTuple
from wc_core.ledger.planning.readiness import PlannedThread, ThreadPlan
from wc_core.ledger.threads.model import BLOCKED, CLOSED, Link

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from wc_core.people.identity.viewer import Viewer
    from wc_observe.stores.graphdb.reader import GraphReader

_NAMES = "MATCH (p:Person) WHERE (p)-[:HOLDS]->() OR ()-[:ASKS]->(p) RETURN p.name"
_BALLS = """
    UNWIND $names AS name
    MATCH (:Person {name: name})-[:HOLDS]->(t:Thread)-[:IN]->(r:Repository)
    WHERE t.status <> $closed
    RETURN r.id, t.topic, t.name, t.title, t.status, t.ball, t.passed_by, t.since
"""
_QUESTIONS = """
    UNWIND $names AS name
    MATCH (r:Repository)<-[:IN]-(t:Thread)-[q:ASKS]->(:Person {name: name})
    WHERE t.status <> $closed
    RETURN r.id, t.topic, t.name, q.title, t.status, q.by, q.id
"""
# The threads that wait for something, or that something waits for.
_PLANNED = """
    MATCH (t:Thread {repository: $id}) WHERE t.gates IS NOT NULL
    OR (t)-[:LINKS]->() OR ()-[:LINKS]->(t)
    OPTIONAL MATCH (t)-[l:LINKS]->(o:Thread)
    RETURN t.topic, t.name, t.title, t.status, t.ball, t.gates,
    collect([l.kind, o.topic])
"""


# An older version has put the gates themselves there.
_STOPPED = "a gate of an older wc"


class GraphItem(NamedTuple):
    """A thread that needs the viewer, in the repository with this id."""

    repository: str
    item: InboxItem


def repositories(graph: GraphReader) -> dict[str, str]:
    """Returns the name of each repository, by its id. Raises GraphAwayError."""
    return {
        row[0]: row[1] for row in graph.rows("MATCH (r:Repository) RETURN r.id, r.name")
    }


def waiting_items(
    graph: GraphReader,
    viewer: Viewer,
    chosen: Iterable[str] | None = None,
) -> list[GraphItem]:
    """Returns what needs the viewer, by kind, the longest waiting first; only of the
    ``chosen`` repositories if given. Raises GraphAwayError."""
    names = [name for (name,) in graph.rows(_NAMES) if viewer.holds(name)]
    if not names:
        return []
    chosen_ids = None if chosen is None else frozenset(chosen)
    questions = _question_items(graph.rows(_QUESTIONS, names=names, closed=CLOSED))
    items = [
        GraphItem(repository, item)
        for (repository, _), item in questions.items()
        if chosen_ids is None or repository in chosen_ids
    ]
    balls = [
        row
        for row in graph.rows(_BALLS, names=names, closed=CLOSED)
        if chosen_ids is None or row[0] in chosen_ids
    ]
    plans = {
        repository: ThreadPlan(_planned(graph, repository))
        for repository in {row[0] for row in balls}
    }
    for repository, topic, *texts in balls:
        plan = plans[repository]
        is_waiting = topic in plan.threads and [*plan.waits(topic)]
        if is_waiting or (repository, topic) in questions:
            continue
        items.append(GraphItem(repository, _ball_item(viewer, topic, texts)))
    return sorted(items, key=_rank)


def _rank(waiting: GraphItem) -> tuple[int, int]:
    kinds = (INPUT, MOVE, OFFERED)
    return kinds.index(waiting.item.kind), waiting.item.since_ms or 0


def _question_items(rows: Iterable[Sequence[Any]]) -> dict[tuple[str, str], InboxItem]:
    """Returns the oldest question of each thread, by the thread's repository and topic,
    with the number of others."""
    items: dict[tuple[str, str], InboxItem] = {}
    for row in sorted(rows, key=lambda row: str(row[-1])):
        repository, topic, name, title, status, by, entry_id = row
        texts = (name or topic, title or "", status or "", by or "")
        item = InboxItem(INPUT, *texts, _since_ms(entry_id), entry_id)
        earlier = items.setdefault((repository, topic), item)
        if earlier is not item:
            count = earlier.more_questions + 1
            items[repository, topic] = earlier._replace(more_questions=count)
    return items


def _ball_item(viewer: Viewer, topic: str, texts: Sequence[Any]) -> InboxItem:
    name, title, status, ball, passed_by, since = texts
    kind = MOVE if viewer.whose(ball) == MINE else OFFERED
    return InboxItem(
        INPUT if status == BLOCKED else kind,
        name or topic,
        title or "",
        status or "",
        passed_by or "",
        _since_ms(since or ""),
    )


def _since_ms(entry_id: str) -> int | None:
    ulid = prefix(entry_id)
    return timestamp_ms(ulid) if ulid else None


def _planned(graph: GraphReader, repository: str) -> list[PlannedThread]:
    return [
        PlannedThread(
            topic=topic,
            name=name or topic,
            title=title or "",
            status=status or CLOSED,
            ball=ball,
            ownership="",
            links=tuple(Link(*link) for link in links if link[1]),
            stop=_STOPPED if (gates or "").startswith("[") else gates or "",
        )
        for topic, name, title, status, ball, gates, links in graph.rows(
            _PLANNED, id=repository
        )
    ]
