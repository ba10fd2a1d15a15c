"""The viewer, who determines which entries are NEW and which balls are "mine"."""

from __future__ import annotations

from wc_core.base import names
from wc_core.ledger.threads import model

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wc_core.base.names import Directory
    from wc_core.ledger.threads.model import State
    from wc_core.ledger.threads.snapshot import Cursor
    from wc_core.people.identity.resolve import Identity


class Viewer:
    """A participant who looks at threads. ``key`` is the key of their read cursors."""

    def __init__(self, identity: Identity, directory: Directory) -> None:
        self.identity = identity
        self.directory = directory
        self.key = directory.key(identity.name)
        self._owners: dict[str, str] = {}
        self._mine: dict[str, bool] = {}

    def whose(self, ball: str | None) -> str:
        """Whose a ball is, see `Directory.whose`."""
        if ball is None:
            return names.FREE
        if ball not in self._owners:
            # Cached: a list calls it for every thread, and few participants have a
            # ball.
            self._owners[ball] = self.directory.whose(ball, self.identity.name)
        return self._owners[ball]

    def holds(self, ball: str | None) -> bool:
        """Whether the viewer may make the next move: they have the ball or are offered
        it."""
        return self.whose(ball) in {names.MINE, names.OFFERED}

    def is_me(self, author: str) -> bool:
        """Whether ``author`` is the viewer, in any spelling."""
        if author not in self._mine:
            self._mine[author] = self.directory.is_me(author, self.identity.name)
        return self._mine[author]

    def new_count(self, state: State, read: Cursor) -> int:
        """The number of entries in a thread that are NEW for the viewer."""
        return model.new_count(state, self.is_me, read.entry_count)
