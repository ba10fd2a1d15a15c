"""Whom a ball can go to: the names this store and this repository know."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from wc_core.errors import NotFoundError, WcError
from wc_core.git import repository
from wc_core.similar import near_names
from wc_core.threads import moves

if TYPE_CHECKING:
    from wc_core.git.discovery import Place
    from wc_core.identity.resolve import Identity
    from wc_core.threads.reader import StoreReader
    from wc_core.threads.settings import Settings

# Stands for any agent where only the seat of a name is known.
_SEAT_ONLY = "-"


class Addressees:
    """Everybody that ``me`` may pass a ball to without being asked twice."""

    def __init__(
        self, reader: StoreReader, place: Place, rules: Settings, me: Identity
    ) -> None:
        self.reader = reader
        self.place = place
        self.rules = rules
        self.me = me

    def check(self, topic: str, to: str) -> None:
        """Raise NotFoundError, with near names, for a name nobody has."""
        if not moves.check_known(to, self._at_hand(topic), self.rules):
            return
        known = self.everybody()
        unknown = moves.check_known(to, known + self._seats(), self.rules)
        if unknown:
            near = near_names(to, known) or known[:5]
            raise NotFoundError(
                f"Nobody here is called {to!r} ({', '.join(unknown)} unknown).",
                f"Did you mean: {', '.join(near)}? To pass it there anyway: --force",
            )

    def _at_hand(self, topic: str) -> list[str]:
        """Names known without opening other threads."""
        known = [*self._configured(topic), *self._seats()]
        with contextlib.suppress(WcError):
            known.extend(self.reader.snapshot(topic).state.people)
        return known

    def _configured(self, topic: str) -> list[str]:
        known = [self.me.author, *self.rules.directory.aliases.values()]
        # Whose agent we are: the one a ball goes to when a person is needed.
        known += [self.me.name.tag] if self.me.name.tag else []
        tables = (self.rules.counterparts, self.rules.topic_counterparts.get(topic, {}))
        for table in tables:
            for chain in table.values():
                known.extend(chain)
        return known

    def _seats(self) -> list[str]:
        """The seats of this repository's worktrees, whoever sits there."""
        where = self.place.repository
        found = repository.worktrees(where) if where is not None else []
        seats = (repository.change_of(path) or branch for path, branch in found)
        return [f"{_SEAT_ONLY}@{seat}" for seat in seats]

    def everybody(self) -> list[str]:
        """Every name in the store, participants first."""
        found: dict[str, None] = {}
        for topic in self.reader.topics():
            with contextlib.suppress(WcError):
                found.update(dict.fromkeys(self.reader.snapshot(topic).state.people))
        return list(dict.fromkeys([*found, *self._configured("")]))
