"""Reports what happens in the worktrees of a repository.

Git's files say which worktrees exist and what they have checked out. Other tools write
files about their loops and agents.
"""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING

from wc_core.base.layout import Layout
from wc_core.ledger.git.repository import admins_of
from wc_core.ledger.git.worktrees import worktrees
from wc_core.people.activity.livestate import activity_path, team_path
from wc_core.people.activity.loops import loop_path
from wc_observe.stores.live.filestamps import stamp_of
from wc_observe.stores.watch.addresses import Changes
from wc_observe.stores.watch.watcher import Watcher

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from wc_core.ledger.git.repository import Repository
    from wc_observe.stores.live.filestamps import Stamp

_LOOP = loop_path("")
# Files in git's folder of a linked worktree.
_GIT = ("HEAD", "gitdir", "locked")
# More worktrees than anyone can look after.
_MOST = 200


class WorktreeWatch:
    """Calls its ``listeners``, on another thread, for every change until it is ended.

    ``root`` is the root of the store, where agents leave notes.
    """

    def __init__(
        self, repository: Repository, root: str, env: Mapping[str, str]
    ) -> None:
        self.listeners: dict[object, Callable[[Changes], None]] = {}
        self._repository = repository
        self._notes = Layout(root).presence
        self._env = env
        self._lock = threading.Lock()
        self._ended = False
        self._stamps = self._read_stamps()
        self._folders = self._folders_of(self._stamps)
        with self._lock:
            self._watcher = self._watch()

    def end(self) -> None:
        """Stops calling back."""
        with self._lock:
            self._ended = True
            self._watcher.stop(wait=False)

    def _watch(self) -> Watcher:
        watcher = Watcher(self._folders, self._report, recursive=False)
        watcher.start()
        return watcher

    def _report(self, paths: frozenset[str] | None) -> None:
        # Git's lock files appear and disappear beside the files that matter.
        if paths is not None and all(path.endswith(".lock") for path in paths):
            return
        with self._lock:
            if self._ended:
                return
            before, self._stamps = self._stamps, self._read_stamps()
            folders = self._folders_of(self._stamps)
            if folders != self._folders:
                self._folders = folders
                self._watcher.stop(wait=False)
                self._watcher = self._watch()
            every_path = before.keys() | self._stamps.keys()
            moved = [
                path
                for path in every_path
                if before.get(path) != self._stamps.get(path)
            ]
        if moved:
            loops = any(path.endswith(_LOOP) for path in moved)
            for callback in list(self.listeners.values()):
                callback(Changes(beside=True, loops=loops))

    def _read_stamps(self) -> dict[str, Stamp]:
        """Returns the stamps of all relevant files, existing or not."""
        files = [f"{self._repository.common}/HEAD", team_path(self._env)]
        for worktree in worktrees(self._repository, self._env)[:_MOST]:
            if worktree.path:
                files += [loop_path(worktree.path), activity_path(worktree.path)]
        for admin in admins_of(self._repository)[:_MOST]:
            files += [f"{admin}/{name}" for name in _GIT]
        files += _names_in(self._notes)
        return {worktree: stamp_of(worktree) for worktree in files if worktree}

    def _folders_of(self, files: Mapping[str, object]) -> tuple[str, ...]:
        parents = {os.path.dirname(path) for path in files}
        return tuple(
            sorted(parents | {f"{self._repository.common}/worktrees", self._notes})
        )


def _names_in(folder: str) -> list[str]:
    try:
        return [f"{folder}/{name}" for name in sorted(os.listdir(folder))[:_MOST]]
    except OSError:
        return []
