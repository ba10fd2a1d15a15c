"""The result of an exchange with a remote, and how long one may take."""

from __future__ import annotations

import time
from types import MappingProxyType

from wc_cli.ledger.clock import random_between
from wc_core.base.phrases import listed
from wc_core.base.values import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from wc_cli.ledger.settle.settler import Settlement


# The longest pause after a lost race, in rounds: this many clones may be competing.
MAX_ROUNDS = 32
# The threads with the same problem that one note names.
_MAX_NAMED = 8


def pause_seconds(lost_races: int, round_seconds: float) -> float:
    """Return the pause after this many lost races: a random part of a number of rounds
    that doubles each time, so that about one clone tries in each round."""
    rounds = min(2**lost_races, MAX_ROUNDS)
    return random_between(0, rounds * round_seconds)


def _sums(first: Mapping[str, int], second: Mapping[str, int]) -> dict[str, int]:
    return {
        topic: first.get(topic, 0) + second.get(topic, 0)
        for topic in {**first, **second}
    }


class Exchange(NamedTuple):
    """The result of an exchange.

    ``came`` and ``went`` count entries by thread; ``behind`` and ``ahead`` count the
    received and sent commits. ``joined``: two histories were merged. ``outvoted`` lists
    files of ours that were replaced by the other side's version. ``harvested`` counts
    the entries that came with the branches of agents, by branch.
    """

    remote: str
    came: Mapping[str, int] = MappingProxyType({})
    went: Mapping[str, int] = MappingProxyType({})
    joined: bool = False
    outvoted: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    ahead: int = 0
    behind: int = 0
    harvested: Mapping[str, int] = MappingProxyType({})

    @property
    def moved(self) -> bool:
        """Whether there is anything to report."""
        facts = (self.came, self.ahead, self.behind, self.harvested, self.notes)
        return any(facts)

    def followed_by(self, later: Exchange) -> Exchange:
        """The result of this exchange and a later one together."""
        return self._replace(
            came=_sums(self.came, later.came),
            went=_sums(self.went, later.went),
            joined=self.joined or later.joined,
            outvoted=(*self.outvoted, *later.outvoted),
            ahead=self.ahead + later.ahead,
            behind=self.behind + later.behind,
        ).with_notes(*later.notes)

    def with_notes(self, *notes: str) -> Exchange:
        """The exchange with more notes, without duplicates."""
        return self._replace(notes=tuple(dict.fromkeys((*self.notes, *notes))))

    def with_settlement(self, settlement: Settlement) -> Exchange:
        """The exchange after the store was settled, with the problems, and what was not
        applied, as notes."""
        topics: dict[str, list[str]] = {}
        for topic, text in {**settlement.unread, **settlement.problems}.items():
            topics.setdefault(text, []).append(topic)
        notes = [
            f"{named}: {text}" if named else text
            for text, names in topics.items()
            for named in [listed(filter(None, names), _MAX_NAMED)]
        ]
        return self._replace(
            joined=self.joined or settlement.joined,
            outvoted=(*self.outvoted, *settlement.outvoted),
        ).with_notes(*notes)

    def to_json(self) -> dict[str, Any]:
        """The JSON shape of an exchange."""
        fields = self._asdict()
        return {
            **fields,
            "came": dict(self.came),
            "went": dict(self.went),
            "harvested": dict(self.harvested),
        }


# How long a command waits for a remote.
LIMIT_SECONDS = 30


def _ignore(text: str) -> None:
    """Show no progress."""


class Waiting(NamedTuple):
    """How long an exchange may take: until ``deadline`` on the monotonic clock.

    ``queues``: wait for a running exchange. ``tell`` gets the progress as text.
    """

    deadline: float
    queues: bool = True
    tell: Callable[[str], None] = _ignore

    @classmethod
    def at_most(
        cls,
        seconds: float = LIMIT_SECONDS,
        *,
        queues: bool = True,
        tell: Callable[[str], None] = _ignore,
    ) -> Waiting:
        """Wait at most this many seconds from now, and at least one, so that the remote
        has a chance to answer."""
        return cls(time.monotonic() + max(1, seconds), queues, tell)

    @property
    def seconds(self) -> float:
        """The remaining seconds."""
        return max(0.0, self.deadline - time.monotonic())
