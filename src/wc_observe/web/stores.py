"""The stores that the page shows: that of the folder in which the server was started,
and with ``--all`` those of every repository on this machine."""

from __future__ import annotations

import hashlib
import os
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import anyio.to_thread

from wc_core.base.errors import NotFoundError, WcError
from wc_core.base.text import one_line
from wc_core.ledger.git import carried as carriers
from wc_core.ledger.git import contact, discovery
from wc_core.ledger.git import repository as repositories
from wc_observe.callers.calls import Call
from wc_observe.callers.open_store import caller_identity, open_store, store_label
from wc_observe.callers.reach import reachable_stores
from wc_observe.stores.live.stores import Stores
from wc_observe.stores.watch.stores import StoreWatch
from wc_observe.web.page import PageContext, StoreLink

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from starlette.applications import Starlette

    from wc_observe.callers.calls import ServerContext
    from wc_observe.callers.open_store import OpenStore
    from wc_observe.callers.reach import Reachable
    from wc_observe.web.links import Links

_KEY = 12


class StoreOpener:
    """Opens stores as seen by the user who started the server. Each store has a key for
    the addresses of its pages; the first one's key is empty."""

    def __init__(self, start: ServerContext, links: Links) -> None:
        stores = Stores()
        self.call = Call("", start.folder, start.env, start.now_ms, stores)
        self._links = links
        self.is_wide = start.all_stores
        self.watch = StoreWatch(stores)

    @asynccontextmanager
    async def lifespan(self, _: Starlette) -> AsyncIterator[None]:
        """Watches the stores while the server runs."""
        self.watch.open()
        try:
            async with anyio.create_task_group() as tasks:
                # Read ahead, so that the first page need not wait for all of it.
                tasks.start_soon(anyio.to_thread.run_sync, self._warm)
                yield
        finally:
            self.watch.close()

    def _warm(self) -> None:
        try:
            self.open().overview.rows()
        except WcError:
            return  # the page reports it

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
        call = self.call_to(key)
        store = open_store(call)
        self.watch.keep_all()
        return store

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
