"""The inbox: what needs one participant in several stores."""

from __future__ import annotations

from wc_core.attention.inbox.items import OFFERED, InboxItem, waiting_threads
from wc_core.attention.inbox.items import read_item as item_of
from wc_core.base.errors import WcError
from wc_core.base.files import read_plain
from wc_core.base.layout import Layout
from wc_core.base.phrases import counted, quoted, with_home
from wc_core.base.text import one_line
from wc_core.base.values import NamedTuple
from wc_core.ledger.planning.nextmoves import LAND
from wc_core.ledger.threads import settings
from wc_core.ledger.threads.model import BLOCKED
from wc_core.ledger.threads.reader import StoreReader
from wc_core.people.identity import resolve, userrecord
from wc_core.people.identity.resolve import Asked, Evidence
from wc_core.people.identity.viewer import Viewer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any

    from wc_core.attention.inbox.items import WaitingThread
    from wc_core.attention.inbox.stores import InboxStore


class InboxOwner(NamedTuple):
    """The owner of an inbox: the identity is resolved in each store, because the
    aliases, the names of git's user and the seats may differ. ``started_by`` returns
    the agent that started this program, or empty. ``is_person`` if it is the person's
    inbox, whatever agent runs this program."""

    env: Mapping[str, str]
    request: Asked = Asked()
    started_by: Callable[[], str] = str
    is_person: bool = False

    def viewer_in(self, store: InboxStore) -> Viewer:
        """Returns the participant in a store. Raises InvalidInputError."""
        rules = settings.load(store.root, self.env)
        evidence = Evidence(
            lambda: userrecord.recorded_user(store.root, self.env), self.started_by
        )
        repository = store.place.repository if store.place is not None else None
        request = self.request
        if self.is_person:
            user = resolve.user_rules(self.env, repository, evidence)
            request = Asked(resolve.winning_rule(user).value)
        identity = resolve.identify(request, self.env, repository, rules, evidence)
        return Viewer(identity, rules.directory)

    def command_for(self, item: InboxItem, store: InboxStore) -> str:
        """Returns the command line that answers an item, from any folder."""
        name, seat = one_line(self.request.name), one_line(self.request.seat)
        words = _answer_words(item)
        words += f" --as {quoted(name)}" if name else ""
        words += f" --seat {quoted(seat)}" if seat else ""
        if store.is_current:
            return f"wc {words}"
        named = "WATERCOOLER_DIR= " if self.env.get("WATERCOOLER_DIR") else ""
        return f"cd {_folder_word(store.folder, self.env)} && {named}wc {words}"


def _folder_word(folder: str, env: Mapping[str, str]) -> str:
    """Returns a folder as a shell word; ``~`` stays the home folder."""
    path = with_home(folder, env)
    return f"~/{quoted(path[2:])}" if path.startswith("~/") else quoted(folder)


def _answer_words(item: InboxItem) -> str:
    topic, message = quoted(one_line(item.topic)), "-m '…'"
    if item.question:
        number = f" {item.question}" if item.more_questions else ""
        return f"answer {topic}{number} {message}"
    if item.move:
        return f"{'land' if item.move == LAND else 'review'} {topic}"
    if item.kind == OFFERED:
        return f"take {topic}"
    unblocks = " --status OPEN" if item.status == BLOCKED else ""
    return f"say {topic} {message}{unblocks}"


class InboxEntry(NamedTuple):
    """An item with its store, and the command that answers it."""

    item: InboxItem
    store: InboxStore
    command: str

    def to_json(self) -> dict[str, Any]:
        """Returns the item shape with its repository."""
        return {
            "repository": self.store.name,
            "path": self.store.folder,
            **self.item.to_json(),
            "command": self.command,
        }


class StoreCount(NamedTuple):
    """How many items a store has for ``me``, its viewer, whose key is ``key``."""

    store: InboxStore
    me: str
    waiting: int
    key: str = ""

    def to_json(self) -> dict[str, Any]:
        """Returns the repository shape."""
        return {
            "repository": self.store.name,
            "path": self.store.folder,
            "store": self.store.root,
            "you": self.me,
            "waiting": self.waiting,
        }


class Inbox(NamedTuple):
    """The items shown, by kind, longest waiting first; ``total`` counts all.
    ``unreadable`` are stores with the reason why they cannot be read."""

    entries: tuple[InboxEntry, ...] = ()
    total: int = 0
    counts: tuple[StoreCount, ...] = ()
    unreadable: tuple[InboxStore, ...] = ()

    @property
    def more(self) -> int:
        """How many items are not shown."""
        return self.total - len(self.entries)

    @property
    def empty_text(self) -> str:
        """What an empty inbox says."""
        if not self.counts:
            return "There is no repository with threads."
        repositories = counted(len(self.counts), "repository", "repositories")
        return f"Nothing needs you in {repositories}."

    def to_json(self) -> dict[str, Any]:
        """Returns the inbox shape."""
        unreadable = [
            {"repository": store.name, "path": store.folder, "problem": store.problem}
            for store in self.unreadable
        ]
        return {
            "items": [entry.to_json() for entry in self.entries],
            "total": self.total,
            **({"truncated": True} if self.more else {}),
            "repositories": [count.to_json() for count in self.counts],
            **({"unreadable": unreadable} if unreadable else {}),
        }


class _StoreSource(NamedTuple):
    store: InboxStore
    reader: StoreReader
    viewer: Viewer
    waiting: list[WaitingThread]


def inbox(stores: Iterable[InboxStore], owner: InboxOwner, limit: int = 0) -> Inbox:
    """Returns the inbox of these stores with at most ``limit`` items (0: all). Only the
    threads of these items are read. A store that cannot be read does not affect the
    others."""
    opened: list[_StoreSource] = []
    unreadable: list[InboxStore] = []
    for store in stores:
        if store.place is None:
            unreadable.append(store)
            continue
        try:
            opened.append(_open(store, owner))
        except WcError as error:
            unreadable.append(store._replace(place=None, problem=error.message))
    entries, vanished = _entries(opened, owner, limit)
    waiting = [len(source.waiting) for source in opened]
    counts = tuple(
        StoreCount(
            source.store,
            source.viewer.identity.author,
            len(source.waiting) - vanished.get(source.store.root, 0),
        )
        for source in opened
    )
    total = sum(waiting) - sum(vanished.values())
    return Inbox(entries, total, counts, tuple(unreadable))


def _open(store: InboxStore, owner: InboxOwner) -> _StoreSource:
    reader, viewer = StoreReader(store.root), owner.viewer_in(store)
    return _StoreSource(store, reader, viewer, waiting_threads(reader, viewer))


def _entries(
    opened: Sequence[_StoreSource], owner: InboxOwner, limit: int
) -> tuple[tuple[InboxEntry, ...], dict[str, int]]:
    """Returns the first items, and how many items of each store no longer need anyone,
    by the store's folder."""
    queue = [(waiting, source) for source in opened for waiting in source.waiting]
    queue.sort(key=lambda pair: pair[0][:2])
    entries: list[InboxEntry] = []
    vanished: dict[str, int] = {}
    for waiting, source in queue:
        if limit and len(entries) == limit:
            break
        item = item_of(source.reader, source.viewer, waiting)
        if item is None:
            root = source.store.root
            vanished[root] = vanished.get(root, 0) + 1
            continue
        command = owner.command_for(item, source.store)
        entries.append(InboxEntry(item, source.store, command))
    return tuple(entries), vanished


def store_counts(stores: Iterable[InboxStore], owner: InboxOwner) -> list[StoreCount]:
    """Returns how many items each of these stores has, without reading every
    thread. Stores are left out if they cannot be read, or if
    the owner should be a person but would not be one there."""
    counts: list[StoreCount] = []
    for store in stores:
        try:
            source = _open(store, owner)
        except WcError:
            continue
        viewer = source.viewer
        if viewer.identity.person or not owner.is_person:
            me, waiting = viewer.identity.author, len(source.waiting)
            counts.append(StoreCount(store, me, waiting, viewer.key))
    return counts


def inbox_fingerprint(stores: Iterable[InboxStore]) -> tuple[object, ...]:
    """Returns a value that changes when the inbox of these stores may: each write
    renews the stamp of the prompt's lines."""
    return tuple((store.root, store.problem, _stamp(store.root)) for store in stores)


def _stamp(root: str) -> bytes | None:
    try:
        return read_plain(Layout(root).line_stamp, root)
    except (OSError, WcError):
        return None
