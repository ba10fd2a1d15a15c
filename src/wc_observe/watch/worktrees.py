"""Hearing of what goes on in the worktrees of a repository.

Git's files say which worktrees there are and what they have checked out; other
tools say in files of their own what loops and agents are at.
"""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING

from wc_core.activity.livestate import activity_path, team_path
from wc_core.activity.loops import loop_path
from wc_core.git.repository import admins_of
from wc_core.git.worktrees import worktrees
from wc_core.layout import Layout
from wc_observe.live.filestamps import stamp_of
from wc_observe.watch.addresses import Changes
from wc_observe.watch.watcher import Watcher

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from wc_core.git.repository import Repository
    from wc_observe.live.filestamps import Stamp

_LOOP = loop_path("")
# In what git keeps about a linked worktree.
_GIT = ("HEAD", "gitdir", "locked")
# More worktrees than people can look after.
_MOST = 200


class WorktreeWatch:
    """Calls its ``listeners``, on another thread, for whatever changes from
    now on; until it is ended. ``root`` is the store's, where agents leave
    notes."""

    def __init__(
        self, repository: Repository, root: str, env: Mapping[str, str]
    ) -> None:
        self.listeners: dict[object, Callable[[Changes], None]] = {}
        self._where = repository
        self._notes = Layout(root).presence
        self._env = env
        self._lock = threading.Lock()
        self._ended = False
        self._seen = self._look()
        self._folders = self._folders_of(self._seen)
        with self._lock:
            self._watcher = self._watch()

    def end(self) -> None:
        """Call back no more."""
        with self._lock:
            self._ended = True
            self._watcher.stop(wait=False)

    def _watch(self) -> Watcher:
        watcher = Watcher(self._folders, self._heard, recursive=False)
        watcher.start()
        return watcher

    def _heard(self, paths: frozenset[str] | None) -> None:
        # Git is busy beside the files that count.
        if paths is not None and all(one.endswith(".lock") for one in paths):
            return
        with self._lock:
            if self._ended:
                return
            before, self._seen = self._seen, self._look()
            folders = self._folders_of(self._seen)
            if folders != self._folders:
                self._folders = folders
                self._watcher.stop(wait=False)
                self._watcher = self._watch()
            every = before.keys() | self._seen.keys()
            moved = [one for one in every if before.get(one) != self._seen.get(one)]
        if moved:
            loops = any(one.endswith(_LOOP) for one in moved)
            for callback in list(self.listeners.values()):
                callback(Changes(beside=True, loops=loops))

    def _look(self) -> dict[str, Stamp]:
        """The files that say something, whether they are there or not."""
        files = [f"{self._where.common}/HEAD", team_path(self._env)]
        for one in worktrees(self._where, self._env)[:_MOST]:
            if one.path:
                files += [loop_path(one.path), activity_path(one.path)]
        for admin in admins_of(self._where)[:_MOST]:
            files += [f"{admin}/{name}" for name in _GIT]
        files += _names_in(self._notes)
        return {one: stamp_of(one) for one in files if one}

    def _folders_of(self, files: Mapping[str, object]) -> tuple[str, ...]:
        found = {os.path.dirname(one) for one in files}
        return tuple(sorted(found | {f"{self._where.common}/worktrees", self._notes}))


def _names_in(folder: str) -> list[str]:
    try:
        return [f"{folder}/{one}" for one in sorted(os.listdir(folder))[:_MOST]]
    except OSError:
        return []
