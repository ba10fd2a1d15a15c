"""Which connections wait for a request, and which of them must go.

A connection that sends nothing, or half a request, costs a caller nothing, and each one
takes a place from somebody else. So each caller has a share of the places. Beyond it,
the connection that has waited longest is closed: a client that sends its request at
once is never that one, even if it comes from the same address as the others.
"""

from __future__ import annotations

from collections import OrderedDict
from ipaddress import ip_address
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Collection

ConnectionT = TypeVar("ConnectionT")

# One caller may have a quarter of all connections waiting, all callers three quarters.
_SHARE = 4
_LOOPBACK = "loopback"
# A machine usually has a whole network of IPv6 addresses of this size.
_IPV6_NETWORK = 64
_IPV6_BITS = 128


class WaitingConnections(Generic[ConnectionT]):
    """The connections that wait for a request, the oldest of each caller first.

    ``exempt`` are addresses of proxies, through which many callers come: their share is
    that of all.
    """

    def __init__(self, limit: int, exempt: Collection[str] = ()) -> None:
        self._each = max(1, limit // _SHARE)
        self._all = max(1, limit - limit // _SHARE)
        self._exempt = frozenset(map(caller_of, exempt))
        self._waiting: dict[str, OrderedDict[ConnectionT, None]] = {}
        self._count = 0

    def begin(self, connection: ConnectionT, address: str) -> ConnectionT | None:
        """Adds a connection that waits now. Returns one that must be closed, if there
        are too many."""
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
        """Removes a connection whose request has arrived, or that was closed."""
        caller = caller_of(address)
        own = self._waiting.get(caller)
        if own is None or connection not in own:
            return
        del own[connection]
        self._count -= 1
        if not own:
            del self._waiting[caller]


def caller_of(address: str) -> str:
    """Returns who an address belongs to: this machine for all of its loopback
    addresses, and the network for one of IPv6."""
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
