"""Clients that are notified of changes, each in the way of its protocol version."""

from __future__ import annotations

import asyncio
import os
import threading
from typing import TYPE_CHECKING

from mcp.server.subscriptions import ResourcesListChanged, ResourceUpdated

from wc_core.base.errors import ConflictError, WcError
from wc_core.ledger.git import discovery
from wc_observe.stores.watch import addresses

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from mcp.server.connection import Connection
    from mcp.server.subscriptions import ServerEvent

    from wc_core.ledger.git.discovery import Place
    from wc_observe.callers.calls import Call
    from wc_observe.stores.watch.addresses import Changes
    from wc_observe.stores.watch.stores import StoreWatch

# A client with more is broken or malicious.
MAX_ADDRESSES = 250


def too_many_addresses() -> ConflictError:
    """Returns the error for a client that subscribes to too many addresses."""
    return ConflictError(
        f"A client may have {MAX_ADDRESSES} addresses at once.",
        "End some of them first.",
    )


class Subscriber:
    """A client that is notified of the changes in one store at a time."""

    def __init__(self, watch: StoreWatch) -> None:
        self._watch = watch
        self._uris: dict[str, set[str]] = {}
        self._loop = asyncio.get_running_loop()
        self._folder: str | None = None
        self._listening_to: tuple[str, bool] = ("", False)
        self._end: Callable[[], None] | None = None
        self._lock = threading.Lock()
        self._closed = False

    def is_at(self, call: Call) -> bool:
        """Returns whether a call from this folder is about the store being listened
        to."""
        # A store that does not exist, or was deleted, may reappear in another place.
        listening = self._folder == call.folder and self._end is not None
        return listening and os.path.isdir(self._listening_to[0])

    async def follow(self, call: Call, *, strict: bool = False) -> None:
        """Listens to the store that a call reads, and to no other.

        If ``strict``, raises WcError when there can be no store.
        """
        try:
            place = discovery.find(call.folder, call.env, missing_ok=True)
        except WcError:
            if strict:
                raise
            return
        self._folder = call.folder
        beside = any(map(addresses.is_about_worktrees, self._uris))
        if self._end is not None and self._listening_to == (place.root, beside):
            return
        # Scanning ten thousand logs takes a while.
        await asyncio.to_thread(self._start_listening, place, call.env, beside=beside)

    def _start_listening(
        self, place: Place, env: Mapping[str, str], *, beside: bool
    ) -> None:
        """Starts listening; runs on a worker thread. If the client has left in the
        meantime, it must stop again here."""
        listen = self._watch.listen_beside if beside else self._watch.listen_at
        end = listen(place, env, self._on_change)
        with self._lock:
            obsolete = end if self._closed else self._end
            if not self._closed:
                self._end, self._listening_to = end, (place.root, beside)
        if obsolete is not None:
            obsolete()

    def close(self) -> None:
        """Stops listening."""
        with self._lock:
            self._closed = True
            end, self._end = self._end, None
        if end is not None:
            end()

    def _on_change(self, changes: Changes) -> None:
        """Called on the watcher's thread."""
        try:
            self._loop.call_soon_threadsafe(self.deliver, changes)
        except RuntimeError:
            return  # the server is shutting down

    def deliver(self, changes: Changes) -> None:
        """Notifies the client; called on the server's event loop."""
        raise NotImplementedError


class LegacyClient(Subscriber):
    """A connection of the older protocol, which has its own notifications."""

    def __init__(self, watch: StoreWatch, connection: Connection) -> None:
        super().__init__(watch)
        self._connection = connection
        # Addresses to notify about, without repetition, in order; "" is the list.
        self._pending: dict[str, None] = {}
        self._sending: asyncio.Task[None] | None = None
        connection.exit_stack.callback(self.close)

    def subscribe(self, uri: str) -> None:
        """Subscribes to an address. Raises InvalidInputError if the server has no such
        address."""
        key = addresses.canonical(uri)
        if key not in self._uris and len(self._uris) >= MAX_ADDRESSES:
            raise too_many_addresses()
        self._uris[key] = self._uris.get(key, set()) | {uri}

    def unsubscribe(self, uri: str) -> None:
        """Ends a subscription. Raises InvalidInputError if the server has no such
        address."""
        self._uris.pop(addresses.canonical(uri), None)

    def close(self) -> None:
        """Stops listening, and drops what is still unsent."""
        super().close()
        if self._sending is not None:
            self._sending.cancel()

    def deliver(self, changes: Changes) -> None:
        """Sends the pending addresses, each of them once."""
        if self._closed:
            return
        for key in addresses.changed_addresses(changes, self._uris):
            self._pending.update(dict.fromkeys(self._uris[key]))
        if changes.listed:
            self._pending[""] = None
        if self._pending and self._sending is None:
            self._sending = self._loop.create_task(self._send_pending())
            self._sending.add_done_callback(self._on_sent)

    async def _send_pending(self) -> None:
        while self._pending:
            uri = next(iter(self._pending))
            del self._pending[uri]
            if uri:
                await self._connection.send_resource_updated(uri)
            else:
                await self._connection.send_resource_list_changed()

    def _on_sent(self, _: asyncio.Task[None]) -> None:
        self._sending = None


class Stream(Subscriber):
    """One stream of the newer protocol, in the form of the event bus that its handler
    listens to."""

    def __init__(self, watch: StoreWatch, uris: list[str]) -> None:
        super().__init__(watch)
        if len(uris) > MAX_ADDRESSES:
            raise too_many_addresses()
        self._uris = addresses.spellings(uris)
        self._listener: Callable[[ServerEvent], None] | None = None

    def subscribe(self, listener: Callable[[ServerEvent], None]) -> Callable[[], None]:
        """Sets the only listener, the handler."""
        self._listener = listener
        return self.close

    async def publish(self, event: ServerEvent) -> None:
        """Required by the protocol's bus; nothing publishes to this one."""
        if self._listener is not None:
            self._listener(event)

    def deliver(self, changes: Changes) -> None:
        """Passes the changes to the handler, which sends them."""
        if self._closed or self._listener is None:
            return
        for key in addresses.changed_addresses(changes, self._uris):
            for uri in self._uris[key]:
                self._listener(ResourceUpdated(uri))
        if changes.listed:
            self._listener(ResourcesListChanged())
