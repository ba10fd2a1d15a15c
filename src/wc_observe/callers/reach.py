"""The stores that a call may look into, beyond its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wc_core.attention.inbox.stores import known_stores
from wc_core.base.errors import WcError
from wc_core.base.values import NamedTuple
from wc_core.ledger.git import discovery

if TYPE_CHECKING:
    from wc_observe.callers.calls import Call


class Reachable(NamedTuple):
    """A store: its name for the caller, its folder, and the same call to it. ``is_own``
    if it is the store of the original call."""

    name: str
    root: str
    call: Call
    is_own: bool = False


def reachable_stores(call: Call) -> list[Reachable]:
    """Returns the stores that the caller may see: over a network the served ones, on
    this machine all that wc knows."""
    if call.store_name:
        served = (_served(peer, call) for peer in call.peers)
        return [reachable for reachable in served if reachable is not None]
    stores = []
    for store in known_stores(call.folder, call.env):
        if store.place is None:
            continue
        env = call.env if store.is_current else {**call.env, "WATERCOOLER_DIR": ""}
        own = call._replace(folder=store.folder, env=env)
        stores.append(Reachable(store.name, store.root, own, store.is_current))
    return stores


def _served(peer: Call, call: Call) -> Reachable | None:
    try:
        place = discovery.find(peer.folder, peer.env)
    except WcError:
        return None
    if not place.exists:
        return None
    is_own = peer.store_name == call.store_name
    return Reachable(peer.store_name, place.root, peer, is_own)
