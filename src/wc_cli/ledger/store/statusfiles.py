"""Writes the status files of threads, which the prompt reads.

`wc_core.attention.status.files` has their format. Each thread has two or three of them
below ``.local/status``; the caller holds the thread's lock.
"""

from __future__ import annotations

import os
import time

from wc_core.attention.status.files import StatusView, file_name, status_files
from wc_core.base import names, ulid
from wc_core.base.errors import WcError
from wc_core.base.layout import safe_name
from wc_core.base.lean import contextlib
from wc_core.ledger.threads import model
from wc_core.ledger.threads.aliases import COMPLETE, alias_files, is_complete, own_names
from wc_core.ledger.threads.model import CLOSED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from wc_cli.ledger.store.localfiles import LocalFiles
    from wc_core.ledger.planning.readiness import ThreadPlan
    from wc_core.ledger.threads.model import State
    from wc_core.ledger.threads.reader import StoreReader


class StatusFiles:
    """The status files of all threads of a store; paths are relative to ``.local``."""

    def __init__(
        self, reader: StoreReader, local: LocalFiles, directory: names.Directory
    ) -> None:
        self.reader = reader
        self.local = local
        self.directory = directory
        # The threads that were closed, reopened or linked: others may wait for them.
        self.replanned: set[str] = set()
        # The threads that wait for others than before: a cycle was closed or opened.
        self.recounted: set[str] = set()
        # The plan of the threads whose files are being written, if they share one.
        self.plan: ThreadPlan | None = None
        # While several threads are written together: the state of each whose links
        # have changed, and its state before that.
        self._relinked: dict[str, tuple[State, State | None]] | None = None
        self._paths_by_name: dict[str, set[str]] | None = None

    def write(self, state: State, before: State | None = None) -> bool:
        """Write the status files of a thread and remove its outdated ones.

        ``before`` is the state that they show now; without it the files are looked up.
        Returns whether anything changed.
        """
        self._note_cycles(state, before)
        view = self._view(state)
        new = status_files(view)
        if before is None:
            old = self.paths_of(state.topic)
        else:
            old = self._possible_paths(before)
            if self._paths_by_name is not None:
                old |= self.paths_of(state.topic)
        changed = [self._replace(old, new)]
        if view.waits:
            # It comes again when it no longer waits, and may wake its holder again.
            self.local.remove(f"wakes/{file_name(state)}")
        if before is None or state.names != before.names:
            changed += [self.local.write(path, b"") for path in alias_files(state)]
        changed += self._index_links(state, before)
        if self._changes_plan(state, before):
            self.replanned.add(state.topic)
        if before is None or self._paths_by_name is not None:
            self._index()[safe_name(state.topic)] = set(new)
        return any(changed) or old != set(new)

    def _replace(self, old: set[str], new: Mapping[str, bytes]) -> bool:
        """Write the ``new`` status files of a thread, and remove its ``old`` ones that
        are not among them. Returns whether a content changed.

        The prompt reads branches before holders. Files are added to the branch first
        and removed from it last, so that no reader finds a ball of its branch
        elsewhere.
        """
        written: dict[bytes, str] = {}
        for path in sorted(new):
            data = new[path]
            if self.local.write(path, data, written.get(data, "")):
                written[data] = path
        for path in sorted(old - set(new), reverse=True):
            self.local.remove(path)
        return bool(written)

    def _possible_paths(self, state: State) -> set[str]:
        """The status files that a thread in this state can have: whether it waits for
        another thread may have changed since."""
        view = StatusView(state, {}, self.directory, pins=self._pins(state))
        paths = set(status_files(view))
        if state.gates or os.path.isdir(self.reader.layout.links):
            paths |= set(status_files(view._replace(waits=("other",))))
        return paths

    def note_replanned(self, topic: str) -> None:
        """Have the threads that wait for this one updated when the next lock is
        released."""
        if os.path.isdir(self.reader.layout.links):
            self.replanned.add(topic)

    def _changes_plan(self, state: State, before: State | None) -> bool:
        """Return whether the readiness of other threads may have changed."""
        if not os.path.isdir(self.reader.layout.links):
            return False
        if before is None:
            return True
        is_closed, was_closed = state.status == CLOSED, before.status == CLOSED
        return is_closed != was_closed or (
            (state.links, state.gates) != (before.links, before.gates)
        )

    def _note_cycles(self, state: State, before: State | None) -> None:
        """Record whether the links of a thread close a cycle, and the other threads
        whose waiting this changes."""
        if state.links == (before.links if before is not None else ()):
            return
        if self._relinked is not None:
            first = self._relinked.get(state.topic, (state, before))[1]
            self._relinked[state.topic] = (state, first)
            return
        self._record_cycles([(state, before)])

    def _record_cycles(self, changes: Sequence[tuple[State, State | None]]) -> bool:
        """Record whether changed links close a cycle, and whose waiting this changes.
        Returns whether they do."""
        from wc_core.ledger.planning import linkfiles  # as in `_index_links`

        cycles = linkfiles.cycles(self.reader, changes)
        if cycles.found:
            self.local.write(linkfiles.CYCLES, b"")
            self.recounted |= cycles.recounted
        return cycles.found

    @property
    def is_together(self) -> bool:
        """Whether several threads are being written together."""
        return self._relinked is not None

    @contextlib.contextmanager
    def together(self) -> Iterator[None]:
        """Look for cycles after the block, once for all threads that it writes. Until
        then, what a thread waits for is what its neighbours show."""
        from wc_core.ledger.planning import linkfiles  # as in `_index_links`

        had_cycles = linkfiles.has_cycles(self.reader)
        if not had_cycles:
            # If this process dies, what it has written may have cycles.
            self.local.write(linkfiles.CYCLES, b"")
        self._relinked = {}
        try:
            yield
        finally:
            changes, self._relinked = self._relinked, None
            if self._record_cycles([*changes.values()]):
                self.replanned.update(changes)
                self.recounted.update(changes)
            elif not had_cycles:
                self.local.remove(linkfiles.CYCLES)

    def _index_links(self, state: State, before: State | None) -> list[bool]:
        """Write the index of the links of a thread,
        `wc_core.ledger.planning.linkfiles`. Returns whether any of its files
        changed."""
        if state.links == (before.links if before is not None else ()):
            return []
        from wc_core.ledger.planning import linkfiles  # 1 ms, for threads with links

        link_files = linkfiles.link_files
        new = link_files(state)
        for path in link_files(before) - new if before is not None else ():
            self.local.remove(path)
        return [self.local.write(path, b"") for path in sorted(new)]

    def are_current(self, state: State) -> bool:
        """Return whether a thread has the right status files."""
        expected = status_files(self._view(state))
        contents = expected | dict.fromkeys(alias_files(state), b"")
        if state.links:
            # as in `_index_links`
            from wc_core.ledger.planning.linkfiles import link_files

            contents |= dict.fromkeys(link_files(state), b"")
        return self.paths_of(state.topic) == set(expected) and all(
            self.local.has(path, data) for path, data in contents.items()
        )

    def complete_names(self) -> None:
        """Write the index of names if an older wc made the store. Without the index,
        all threads are read."""
        if not is_complete(self.reader):
            with contextlib.suppress(WcError, OSError):
                self.index_names()

    def index_names(self) -> None:
        """Write the index of the threads' given names, see
        `wc_core.ledger.threads.aliases`."""
        for topic in self.reader.topics():
            try:
                state = self.reader.snapshot(topic).state
            except WcError:
                continue  # its names count again once it is readable and written to
            for path in alias_files(state):
                self.local.write(path, b"")
        self.local.write(COMPLETE, b"")

    def paths_of(self, topic: str) -> set[str]:
        """All status files of a thread, wherever a crash left them."""
        return self._index().get(safe_name(topic), set())

    def orphans(self, topics: Iterable[str]) -> list[str]:
        """The status files that belong to none of these threads."""
        names_in_use = {safe_name(topic) for topic in topics}
        return sorted(
            path
            for name, paths in self._index().items()
            if name not in names_in_use
            for path in paths
        )

    def remove_stale(self, state: State) -> None:
        """Remove the status files that a thread had at the last `scan` and should no
        longer have."""
        expected = status_files(self._view(state))
        for path in self.paths_of(state.topic) - set(expected):
            self.local.remove(path)

    def scan(self) -> None:
        """List the status files, once."""
        self._index()

    def invalidate(self) -> None:
        """Forget the list of status files: other writers change them."""
        self._paths_by_name = None

    def note_shown(self, state: State | None) -> None:
        """Add the files that a thread in this state can have to the listed ones:
        another process may have written them after the listing. Listing again for each
        thread would be quadratic."""
        if state is not None:
            paths = self._index().setdefault(safe_name(state.topic), set())
            paths |= self._possible_paths(state)

    def _index(self) -> dict[str, set[str]]:
        """The paths of all status files, by their thread's name in them.

        Listed once for all threads: there may be thousands of both.
        """
        if self._paths_by_name is None:
            self._paths_by_name = {}
            local = self.local.layout.local
            for folder, _, file_names in os.walk(f"{local}/status"):
                path = os.path.relpath(folder, local)
                for name in file_names:
                    thread = name[ulid.LENGTH + 1 :]
                    self._paths_by_name.setdefault(thread, set()).add(f"{path}/{name}")
        return self._paths_by_name

    def _view(self, state: State) -> StatusView:
        """A thread with the number of NEW entries for each participant and each reader
        with a cursor."""
        cursors = self.reader.cursors(state.topic)
        keys = {
            person.name: self.directory.key(names.parse(person.name))
            for person in state.participants
        }
        new = {}
        for key in (*keys.values(), *cursors):
            spellings = {name for name, own_key in keys.items() if own_key == key}
            count = cursors[key].entry_count if key in cursors else 0
            new[key] = model.new_count(state, spellings.__contains__, count)
        names_here = own_names(self.reader, state) if state.names else ()
        waits = self._waits(state)
        state = state._replace(names=names_here)
        return StatusView(state, new, self.directory, waits, self._pins(state))

    def _pins(self, state: State) -> tuple[str, ...]:
        """The worktrees for which a thread was chosen."""
        if not os.path.isdir(self.reader.layout.pins):
            return ()
        # 1 ms, for stores with chosen threads
        from wc_core.attention.status import pins

        worktrees = pins.pinned_worktrees(self.reader.layout, state.topic)
        return tuple(map(pins.pin_place, worktrees))

    def _waits(self, state: State) -> tuple[str, ...]:
        """The names of the threads for which a thread waits."""
        if state.status == CLOSED:
            return ()  # it has no status files
        # The first link of a store is not in the index yet.
        if not (state.links or state.gates or os.path.isdir(self.reader.layout.links)):
            return ()
        # 1 ms, for stores with a plan
        from wc_core.ledger.planning.linkfiles import wait_words, waits_of

        if self.plan is not None and state.topic in self.plan.threads:
            return wait_words(self.plan, state.topic)
        return waits_of(self.reader, state, ignores_cycles=self.is_together)


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
