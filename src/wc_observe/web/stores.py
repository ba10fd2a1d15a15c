"""The stores that the page shows: that of the folder in which the server was started,
and with ``--all`` those of every repository on this machine; and the events that tell
open pages what changed."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
from typing import TYPE_CHECKING

import anyio.to_thread
from starlette.responses import Response, StreamingResponse

from wc_core.base.errors import NotFoundError, WcError
from wc_core.base.text import one_line
from wc_core.ledger.git import carried as carriers
from wc_core.ledger.git import contact, discovery
from wc_core.ledger.git import repository as repositories
from wc_observe.callers.calls import Call, Progress
from wc_observe.callers.open_store import caller_identity, open_store, store_label
from wc_observe.callers.reach import reachable_stores
from wc_observe.stores.watch import StoreWatch
from wc_observe.web.page import PageContext, StoreLink

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from starlette.requests import Request

    from wc_observe.callers.calls import ServerContext
    from wc_observe.callers.open_store import OpenStore
    from wc_observe.callers.reach import Reachable
    from wc_observe.web.links import Links

_KEY = 12
# Each open page has one stream; more than this is a fault.
MAX_STREAMS = 32
# Seconds between keep-alives, which reveal closed connections.
_SILENCE = 20.0
# Debounce: changes within this many seconds become one event.
_TOGETHER = 0.03
_NAMED = 50


class StoreOpener:
    """Opens stores as seen by the user who started the server. Each store has a key for
    the addresses of its pages; the first one's key is empty."""

    def __init__(self, start: ServerContext, links: Links) -> None:
        self.call = Call("", start.folder, start.env, start.now_ms, Progress())
        self._links = links
        self.is_wide = start.all_stores
        self.watch = StoreWatch()

    def call_to(self, key: str) -> Call:
        """Returns the call that reads the store with a key. Raises NotFoundError."""
        if not key:
            return self.call
        for reachable in self._reachable():
            if key_of(reachable.root) == key:
                return reachable.call
        raise NotFoundError("There is no such repository.", "Go to the inbox.")

    def _reachable(self) -> list[Reachable]:
        return reachable_stores(self.call) if self.is_wide else []

    def open(self, key: str = "") -> OpenStore:
        """Returns the current state of a store. Raises WcError if it cannot be read."""
        return open_store(self.call_to(key))

    def is_new(self) -> bool:
        """Returns whether the folder in which the server was started has no store
        yet."""
        try:
            place = discovery.find(self.call.folder, self.call.env)
        except WcError:
            return False
        if contact.unasked(place, self.call.env):
            return False  # the error says so
        is_named = place.kind == discovery.NAMED
        return not (place.exists or place.branch_exists or is_named)

    def page_context(self, store: OpenStore | None, key: str = "") -> PageContext:
        """Returns what every page needs to know about its request."""
        now = self.call.now_ms()
        links = self._links.in_store(key) if key else self._links
        if store is not None:
            return PageContext(
                links,
                store.label,
                one_line(store.viewer.identity.author, 100),
                now,
                repository=_repository_name(store),
                directory=store.viewer.directory,
                stores=self._links_to_stores(key),
                travels=_travels(store),
            )
        try:
            me = one_line(caller_identity(self.call).author, 100)
        except WcError:
            me = ""
        folder = store_label(self.call.folder, self.call)
        name = _folder_name(self.call.folder)
        others = self._links_to_stores(key)
        return PageContext(links, "", me, now, folder, name, stores=others)

    def _links_to_stores(self, key: str) -> tuple[StoreLink, ...]:
        return tuple(
            StoreLink(
                reachable.name,
                self.links_of(reachable.root, is_own=reachable.is_own).board(),
                is_current=reachable.is_own
                if not key
                else key_of(reachable.root) == key,
            )
            for reachable in self._reachable()
        )

    def links_of(self, root: str, *, is_own: bool) -> Links:
        """Returns the addresses of a store's pages."""
        return self._links if is_own else self._links.in_store(key_of(root))


def key_of(root: str) -> str:
    """Returns the key of the store at ``root``."""
    return hashlib.sha256(os.fsencode(root)).hexdigest()[:_KEY]


def _repository_name(store: OpenStore) -> str:
    repository = store.place.repository
    if repository is not None:
        return repository.name
    return os.path.basename(os.path.dirname(store.place.root))


def _folder_name(folder: str) -> str:
    repository = repositories.find(folder)
    return repository.name if repository is not None else os.path.basename(folder)


def _travels(store: OpenStore) -> str:
    """Returns a line about entries that travel with the code; usually empty."""
    checkout = repositories.find(store.reader.layout.root)
    carried = carriers.current(store.reader.layout, checkout)
    return one_line(carried.sentence(checkout), 200) if carried is not None else ""


class Streams:
    """The open event streams."""

    def __init__(self, opener: StoreOpener) -> None:
        self._opener = opener
        self._watch = opener.watch
        self.count = 0

    async def answer(self, request: Request) -> Response:
        """Answers with a stream, or 503 if there are too many."""
        if self.count >= MAX_STREAMS:
            words = f"There are {MAX_STREAMS} streams already. Close a page.\n"
            return Response(words, 503, {"Retry-After": "30"}, "text/plain")
        try:
            key = str(request.path_params.get("store", ""))
            call = self._opener.call_to(key)
            place = discovery.find(call.folder, call.env, missing_ok=True)
        except WcError as error:
            return Response(f"{error.message}\n", 503, media_type="text/plain")
        return StreamingResponse(
            self._events(place),
            media_type="text/event-stream",
            headers=_HEADERS,
        )

    async def _events(self, place: discovery.Place) -> AsyncIterator[str]:
        pending = _PendingChanges()
        self.count += 1
        end = None
        try:
            # Scanning ten thousand logs takes a while.
            end = await anyio.to_thread.run_sync(
                self._watch.listen, place.root, pending.add
            )
            yield "retry: 1000\nevent: ready\ndata: {}\n\n"
            while True:
                yield await pending.next()
        finally:
            self.count -= 1
            if end is not None:
                end()


class _PendingChanges:
    """Changes that have not been sent on a stream yet."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._something = asyncio.Event()
        self._topics: set[str] = set()

    def add(self, topics: frozenset[str]) -> None:
        """Adds changed threads; called on the watcher's thread."""
        try:
            self._loop.call_soon_threadsafe(self._note, topics)
        except RuntimeError:
            return  # the server is shutting down

    def _note(self, topics: frozenset[str]) -> None:
        self._topics |= topics
        self._something.set()

    async def next(self) -> str:
        """Waits for the next event, or returns a keep-alive."""
        try:
            async with asyncio.timeout(_SILENCE):
                await self._something.wait()
        except TimeoutError:
            return ": still here\n\n"
        await asyncio.sleep(_TOGETHER)
        self._something.clear()
        topics, self._topics = sorted(self._topics), set()
        event = {"topics": topics[:_NAMED], "more": len(topics) > _NAMED}
        return f"event: changed\ndata: {json.dumps(event)}\n\n"


_HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
