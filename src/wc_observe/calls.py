"""One call of a client: who calls, and which folder they are in."""

from __future__ import annotations

from contextvars import ContextVar
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from wc_observe.live.stores import Stores


class ServerContext(NamedTuple):
    """What the server was started in; ``now_ms`` is milliseconds since 1970.

    ``served_as`` is the name of the one store that is served to callers over a
    network. Such callers choose no folder, and nothing in this machine's
    environment says who they are. It is empty for a client that started us.
    """

    folder: str
    env: Mapping[str, str]
    now_ms: Callable[[], int]
    store_name: str = ""


class Call(NamedTuple):
    """What a call is answered from: the client's name and folder, the stores
    that are kept in memory, the rest.

    ``subject`` is whom a caller over a network has proved to be, if anybody.
    """

    client: str
    folder: str
    env: Mapping[str, str]
    now_ms: Callable[[], int]
    stores: Stores
    store_name: str = ""
    subject: str = ""


# Set by the boundary around each call; worker threads inherit it.
CURRENT: ContextVar[Call] = ContextVar("call")
