"""Checking whom a ball can go to: the names that this store and repository know."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from wc_core.errors import NotFoundError, WcError
from wc_core.git import repository as repositories
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
    """The participants that ``me`` may pass a ball to without --force."""

    def __init__(
        self, reader: StoreReader, place: Place, rules: Settings, me: Identity
    ) -> None:
        self.reader = reader
        self.place = place
        self.rules = rules
        self.me = me

    def check(self, topic: str, to: str) -> None:
        """Raise NotFoundError, with similar names, for an unknown name."""
        if not moves.unknown_parts(to, self._nearby_names(topic), self.rules):
            return
        # The costly list, which opens every thread, only for the rare name.
        names = self._all_names()
        unknown = moves.unknown_parts(to, names + self._seats(), self.rules)
        if unknown:
            near = near_names(to, names) or names[:5]
            raise NotFoundError(
                f"Nobody here is called {to!r} ({', '.join(unknown)} unknown).",
                f"Did you mean: {', '.join(near)}? To pass it there anyway: --force",
            )

    def _nearby_names(self, topic: str) -> list[str]:
        """The names known without opening other threads."""
        names = [*self._configured_names(topic), *self._seats()]
        with contextlib.suppress(WcError):
            names.extend(self.reader.snapshot(topic).state.people)
        return names

    def _configured_names(self, topic: str) -> list[str]:
        names = [self.me.author, *self.rules.directory.aliases.values()]
        # The person whose agent this is: the ball goes there when one is needed.
        names += [self.me.name.tag] if self.me.name.tag else []
        tables = (self.rules.counterparts, self.rules.topic_counterparts.get(topic, {}))
        for table in tables:
            for chain in table.values():
                names.extend(chain)
        return names

    def _seats(self) -> list[str]:
        """The seats of this repository's worktrees, for any agent."""
        repository = self.place.repository
        if repository is None:
            return []
        worktrees = repositories.worktrees(repository)
        seats = (repositories.change_of(path) or branch for path, branch in worktrees)
        return [f"{_SEAT_ONLY}@{seat}" for seat in seats]

    def _all_names(self) -> list[str]:
        """Every name in the store, participants first."""
        people: dict[str, None] = {}
        for topic in self.reader.topics():
            with contextlib.suppress(WcError):
                people.update(dict.fromkeys(self.reader.snapshot(topic).state.people))
        return list(dict.fromkeys([*people, *self._configured_names("")]))
