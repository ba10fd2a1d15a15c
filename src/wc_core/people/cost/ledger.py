"""The cost of sessions, in a small file for each: ``.local/cost/<client>:<session>``.

It stays on this machine. A file that cannot be read is left out.
"""

from __future__ import annotations

from types import MappingProxyType

from wc_core.base.errors import WcError
from wc_core.base.files import names_in, read_plain
from wc_core.base.lean import json
from wc_core.base.values import NamedTuple
from wc_core.people.cost.usage import Meter, Usage

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from wc_core.base.layout import Layout

VERSION = 1
_MAX_BYTES = 1 << 22
_UNREADABLE = (
    *(OSError, ValueError, TypeError, LookupError, AttributeError),
    *(OverflowError, RecursionError, WcError),
)


class Spent(NamedTuple):
    """An amount spent: tokens, the agent's turns, and their milliseconds."""

    usage: Usage = Usage()
    turns: int = 0
    ms: int = 0

    def plus(self, spent: Spent) -> Spent:
        """Returns the sum."""
        usage = self.usage.plus(spent.usage)
        return Spent(usage, self.turns + spent.turns, self.ms + spent.ms)


class SessionCost(NamedTuple):
    """The cost of a session so far.

    ``offset`` is how much of its transcript was counted, ``began_ms`` when its turn
    began (0: it has none), ``topic`` the thread that it works on (empty: none), and
    ``threads`` what it spent on each.
    """

    agent: str
    offset: int = 0
    meter: Meter = Meter()
    began_ms: int = 0
    topic: str = ""
    threads: Mapping[str, Spent] = MappingProxyType({})

    def with_spent(self, topic: str, spent: Spent) -> SessionCost:
        """Returns it with more spent on a thread."""
        if spent == Spent():
            return self
        total = self.threads.get(topic, Spent()).plus(spent)
        return self._replace(threads={**self.threads, topic: total})


class CostRow(NamedTuple):
    """The amount that an agent has spent on a thread; the topic is empty for none."""

    topic: str
    agent: str
    spent: Spent

    def to_json(self) -> dict[str, Any]:
        """Returns the row as JSON."""
        usage = self.spent.usage
        return {
            "topic": self.topic or None,
            "agent": self.agent,
            "tokens": {**usage._asdict(), "total": usage.total},
            "turns": self.spent.turns,
            "seconds": self.spent.ms // 1000,
        }


def encode(cost: SessionCost) -> bytes:
    """The file of a session."""
    meter = cost.meter
    fields = {
        "version": VERSION,
        "agent": cost.agent,
        "offset": cost.offset,
        "responses": {key: list(usage) for key, usage in meter.responses.items()},
        "total": None if meter.total is None else list(meter.total),
        "began_ms": cost.began_ms,
        "topic": cost.topic,
        "threads": {
            topic: [*spent.usage, spent.turns, spent.ms]
            for topic, spent in cost.threads.items()
        },
    }
    return json.dumps(fields).encode()


def load(layout: Layout, path: str) -> SessionCost | None:
    """The cost of a session; ``None`` if there is no file that can be read."""
    try:
        fields = json.loads(read_plain(path, layout.root, _MAX_BYTES) or b"null")
        if fields["version"] != VERSION:
            return None
        total = fields["total"]
        responses = {str(k): _usage(row) for k, row in fields["responses"].items()}
        return SessionCost(
            str(fields["agent"]),
            int(fields["offset"]),
            Meter(responses, None if total is None else _usage(total)),
            int(fields["began_ms"]),
            str(fields["topic"]),
            {str(topic): _spent(row) for topic, row in fields["threads"].items()},
        )
    except _UNREADABLE:
        return None


def _usage(row: Any) -> Usage:
    fresh, output, cache_read, cache_write = map(int, row)
    return Usage(fresh, output, cache_read, cache_write)


def _spent(row: Any) -> Spent:
    *usage, turns, ms = row
    return Spent(_usage(usage), int(turns), int(ms))


def all_costs(layout: Layout) -> list[SessionCost]:
    """The costs of all sessions.

    Raises StorageError and CorruptError if the folder cannot be listed.
    """
    names = names_in(layout.cost, layout.root)
    costs = (load(layout, f"{layout.cost}/{name}") for name in names)
    return [cost for cost in costs if cost is not None]


def rows(costs: Iterable[SessionCost]) -> list[CostRow]:
    """The amount that each agent has spent on each thread, most tokens first."""
    spent: dict[tuple[str, str], Spent] = {}
    for cost in costs:
        for topic, amount in cost.threads.items():
            key = topic, cost.agent
            spent[key] = spent.get(key, Spent()).plus(amount)
    result = [CostRow(topic, agent, amount) for (topic, agent), amount in spent.items()]
    result.sort(key=lambda row: (-row.spent.usage.total, -row.spent.ms, row[:2]))
    return result
