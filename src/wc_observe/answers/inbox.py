"""What needs the caller in all repositories, as text and as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wc_core.attention.inbox.items import KINDS, read_item, waiting_threads
from wc_core.attention.inbox.stores import InboxStore, known_stores
from wc_core.attention.inbox.view import (
    Inbox,
    InboxEntry,
    InboxOwner,
    StoreCount,
    inbox,
)
from wc_core.base.errors import WcError
from wc_core.base.phrases import counted
from wc_core.base.text import command_line, defused
from wc_core.base.times import age_text, seconds_between
from wc_core.base.values import NamedTuple
from wc_core.ledger.threads.ways import via_text
from wc_core.people.identity.resolve import Asked
from wc_observe.answers import everywhere
from wc_observe.answers.everywhere import GRAPH, STORES, Origin
from wc_observe.answers.quoting import clean_json, title, word
from wc_observe.callers.open_store import open_store
from wc_observe.callers.reach import reachable_stores
from wc_observe.stores.graphdb import waiting
from wc_observe.stores.graphdb.reader import GraphAwayError

if TYPE_CHECKING:
    from wc_observe.callers.calls import Call
    from wc_observe.stores.graphdb.reader import GraphReader

_WIDE = 200
_TITLE_WIDTH = 60


class CallerInbox(NamedTuple):
    """The caller's inbox, and its source."""

    inbox: Inbox
    origin: Origin


def caller_inbox(call: Call, limit: int) -> CallerInbox:
    """Returns the caller's inbox. A person's preferences are ignored: they are about
    what that person is shown."""
    origin = Origin(STORES)
    if call.graph is not None:
        try:
            return CallerInbox(_graph_inbox(call, call.graph, limit), Origin(GRAPH))
        except GraphAwayError as error:
            origin = everywhere.away(call, error)
    if call.store_name:
        return CallerInbox(_served_inbox(call, limit), origin)
    owner = InboxOwner(call.env, Asked(client=call.client))
    stores = known_stores(call.folder, call.env)
    answer = inbox(stores, owner, limit)
    return CallerInbox(answer, origin)


def _served_inbox(call: Call, limit: int) -> Inbox:
    """The inbox in the stores that a caller over a network is served."""
    placed: list[InboxEntry] = []
    unreadable, counts = [], []
    owner = InboxOwner({}, Asked(client=call.client))
    for reachable in reachable_stores(call):
        place = InboxStore(reachable.name, "", "", is_current=True)
        try:
            store = open_store(reachable.call)
            waiting = waiting_threads(store.reader, store.viewer)
            threads = sorted(waiting, key=lambda thread: thread[:2])
        except WcError as error:
            unreadable.append(place._replace(problem=error.message))
            continue
        items = [read_item(store.reader, store.viewer, thread) for thread in threads]
        kept = [item for item in items if item is not None]
        counts.append(StoreCount(place, store.viewer.identity.author, len(kept)))
        placed += [
            InboxEntry(item, place, owner.command_for(item, place)) for item in kept
        ]
    placed.sort(
        key=lambda entry: (KINDS.index(entry.item.kind), entry.item.since_ms or 0)
    )
    return Inbox(tuple(placed[:limit]), len(placed), tuple(counts), tuple(unreadable))


def _graph_inbox(call: Call, graph: GraphReader, limit: int) -> Inbox:
    """The inbox in the repositories of a graph. Those on this machine have their
    folder, and the command that changes to it."""
    allowed = everywhere.allowed_repositories(call)
    names = waiting.repositories(graph)
    viewer = everywhere.caller_viewer(call)
    items = waiting.waiting_items(graph, viewer, allowed)
    places = _places(call)
    owner = InboxOwner(call.env, Asked(client=call.client))
    stores = {
        repository: places.get(repository, InboxStore(name, "", "", is_current=True))
        for repository, name in names.items()
        if allowed is None or repository in allowed
    }
    entries = tuple(
        InboxEntry(
            item, stores[repository], owner.command_for(item, stores[repository])
        )
        for repository, item in items[:limit]
        if repository in stores
    )
    counts = tuple(
        StoreCount(
            store,
            viewer.identity.author,
            sum(item.repository == repository for item in items),
        )
        for repository, store in stores.items()
    )
    return Inbox(entries, len(items), counts)


def _places(call: Call) -> dict[str, InboxStore]:
    """The stores on this machine, by the ids of their repositories. Empty for a caller
    over a network, who must not learn about its folders."""
    if call.store_name:
        return {}
    local_stores = known_stores(call.folder, call.env)
    own = {store.root: store for store in local_stores if store.place is not None}
    places = {}
    for reachable in reachable_stores(call):
        try:
            places[everywhere.repository_id(reachable)] = own[reachable.root]
        except (WcError, KeyError):
            continue
    return places


def inbox_json(answer: CallerInbox) -> dict[str, Any]:
    """Returns the inbox shape."""
    fields = answer.inbox.to_json() | answer.origin.to_json()
    return dict(clean_json(fields))


def inbox_markdown(answer: CallerInbox, now_ms: int) -> str:
    """Returns one line per item, with the command that answers it."""
    own, origin = answer
    stores = counted(len(own.counts), "repository", "repositories")
    if not own.total:
        lines = [own.empty_text]
    else:
        hidden = f"{len(own.entries)} of " if own.more else ""
        items = counted(own.total, "item")
        lines = [f"{hidden}{items} in {stores}, by kind, the longest waiting first"]
    if origin != Origin(STORES):
        lines.append(origin.line.rstrip())
    lines += [_item_line(entry, now_ms) for entry in own.entries]
    lines += [
        f"not read: {word(store.name, _WIDE)}: {word(store.problem, _WIDE)}"
        for store in own.unreadable
    ]
    return "\n".join(lines) + "\n"


def _item_line(entry: InboxEntry, now_ms: int) -> str:
    item = entry.item
    facts = [
        f"{word(entry.store.name, _WIDE)}: {word(item.topic, _WIDE)}",
        title(item.title, _TITLE_WIDTH),
        *([f"from {word(item.by)}"] if item.by else []),
        *([word(via_text(item.via), _TITLE_WIDTH)] if item.via else []),
    ]
    if item.since_ms is not None:
        facts.append(age_text(seconds_between(item.since_ms, now_ms)))
    kind = f"to {item.move}" if item.move else item.kind.replace("_", " ")
    command = defused(command_line(entry.command))
    return f"- {kind}, {', '.join(facts)}; answer: {command}"
