"""One call of a client: who makes it, and from which folder."""

from __future__ import annotations

import time
from contextvars import ContextVar
from typing import TYPE_CHECKING

from wc_core.base.values import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from fastmcp.server.auth import AccessToken

    from wc_observe.stores.graphdb.reader import GraphReader

    Served = Callable[["AccessToken | None"], list["ServerContext"]]


def system_ms() -> int:
    """Returns the milliseconds since 1970."""
    return time.time_ns() // 1_000_000


class ServerContext(NamedTuple):
    """The server's settings at its start. ``now_ms`` returns milliseconds since 1970.

    ``store_name`` is the name of the only store that callers over a network can read.
    Such callers cannot choose a folder, and this machine's environment does not
    identify them. It is empty for a client that started the server itself.

    ``all_stores`` says that the server has the tools that look beyond one store, and
    ``graph`` is the graph database that these use. ``served`` returns the stores that a
    token's holder may see, over a network.
    """

    folder: str
    env: Mapping[str, str]
    now_ms: Callable[[], int]
    store_name: str = ""
    all_stores: bool = False
    graph: GraphReader | None = None
    served: Served | None = None


class Progress:
    """How many threads a call has read, and how many its store has; 0 if that is not
    known yet."""

    def __init__(self) -> None:
        self.done = self.total = 0


class Call(NamedTuple):
    """What a call is answered from: the client's name and folder, the environment and
    the clock. ``progress`` counts what is read for it.

    ``subject`` is the authenticated user of a caller over a network, or empty.
    ``peers`` are the same call to each store that the caller may see, and ``is_wide``
    says that it may look beyond its own store.
    """

    client: str
    folder: str
    env: Mapping[str, str]
    now_ms: Callable[[], int]
    progress: Progress
    store_name: str = ""
    subject: str = ""
    is_wide: bool = False
    graph: GraphReader | None = None
    peers: tuple[Call, ...] = ()


# Set by the boundary for each call; worker threads inherit it.
CURRENT: ContextVar[Call] = ContextVar("call")
