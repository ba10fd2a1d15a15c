"""Which connections are waiting for a request, and which of them must be closed.

A connection that sends nothing, or half a request, costs its caller nothing but takes a
place from someone else. So each caller has a share of the places. Beyond that, the
connection that has waited longest is closed: never one of a client that sends its
request at once, even if it shares an address with the others.
"""

from __future__ import annotations

from collections import OrderedDict
from ipaddress import ip_address
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Collection

ConnectionT = TypeVar("ConnectionT")

# The waiting connections of one caller may be a quarter of all, those of all callers
# three quarters.
_SHARE = 4
_LOOPBACK = "loopback"
# A machine usually has a whole IPv6 network of this size.
_IPV6_NETWORK = 64
_IPV6_BITS = 128


class WaitingConnections(Generic[ConnectionT]):
    """The connections that are waiting for a request, the oldest of each caller first.

    ``exempt`` are addresses of proxies with many callers behind them: their share is
    that of all callers.
    """

    def __init__(self, limit: int, exempt: Collection[str] = ()) -> None:
        self._each = max(1, limit // _SHARE)
        self._all = max(1, limit - limit // _SHARE)
        self._exempt = frozenset(map(caller_of, exempt))
        self._waiting: dict[str, OrderedDict[ConnectionT, None]] = {}
        self._count = 0

    def begin(self, connection: ConnectionT, address: str) -> ConnectionT | None:
        """Adds a waiting connection. Returns a connection to close if there are too
        many."""
        caller = caller_of(address)
        own = self._waiting.setdefault(caller, OrderedDict())
        self._count += connection not in own
        own[connection] = None
        if len(own) <= self._each or caller in self._exempt:
            if self._count <= self._all:
                return None
            own = max(self._waiting.values(), key=len)
        return next(iter(own))

    def end(self, connection: ConnectionT, address: str) -> None:
        """Removes a connection that was closed or whose request has arrived."""
        caller = caller_of(address)
        own = self._waiting.get(caller)
        if own is None or connection not in own:
            return
        del own[connection]
        self._count -= 1
        if not own:
            del self._waiting[caller]


def caller_of(address: str) -> str:
    """Returns who an address belongs to: this machine for all loopback addresses, the
    network for an IPv6 address."""
    try:
        parsed = ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if parsed.version == 6 and parsed.ipv4_mapped is not None:  # noqa: PLR2004
        parsed = parsed.ipv4_mapped
    if parsed.is_loopback:
        return _LOOPBACK
    if parsed.version == 6:  # noqa: PLR2004
        return f"{int(parsed) >> (_IPV6_BITS - _IPV6_NETWORK):x}"
    return str(parsed)
