"""Hearing of what goes on in the worktrees of a repository.

Git's files say which worktrees there are and what they have checked out; other
tools say in files of their own what loops and agents are at.
"""

from __future__ import annotations

import os
import threading

from wc_core.files import read_plain
from wc_observe.addresses import Changes
from wc_observe.stamps import stamp_of
from wc_observe.watching import Watcher

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from wc_core.repository import Repository
    from wc_observe.stamps import Stamp

_LOOP = ".claude/loop-state.json"
# Below a worktree; in what git keeps about one.
_STATES = (_LOOP, ".claude/activity.json")
_GIT = ("HEAD", "gitdir", "locked")
# More worktrees than people can look after.
_MOST = 200


class Beside:
    """Calls its ``listeners``, on another thread, for whatever changes from
    now on; until it is ended. ``root`` is the store's, where agents leave
    notes."""

    def __init__(self, where: Repository, root: str, env: Mapping[str, str]) -> None:
        self.listeners: dict[object, Callable[[Changes], None]] = {}
        self._where = where
        self._root = root
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

    def _look(self) -> dict[str, Stamp | None]:
        """The files that say something, whether they are there or not."""
        files = [f"{self._where.common}/HEAD", _team(self._env)]
        folder, name = os.path.split(self._where.common)
        tops = [self._where.top, folder if name == ".git" else ""]
        for admin in _names_in(f"{self._where.common}/worktrees"):
            files += [f"{admin}/{one}" for one in _GIT]
            tops.append(_top(admin))
        for top in filter(None, dict.fromkeys(tops)):
            files += [f"{top}/{one}" for one in _STATES]
        files += _names_in(self._notes)
        return {one: stamp_of(one) for one in files if one}

    @property
    def _notes(self) -> str:
        return f"{self._root}/.watercooler/presence"

    def _folders_of(self, files: Mapping[str, object]) -> tuple[str, ...]:
        found = {os.path.dirname(one) for one in files}
        return tuple(sorted(found | {f"{self._where.common}/worktrees", self._notes}))


def _names_in(folder: str) -> list[str]:
    try:
        return [f"{folder}/{one}" for one in sorted(os.listdir(folder))[:_MOST]]
    except OSError:
        return []


def _top(admin: str) -> str:
    """The worktree that git keeps this about; empty where that is unknown."""
    try:
        said = (read_plain(f"{admin}/gitdir") or b"").rstrip(b"\n")
    except OSError:
        return ""
    path = os.path.join(admin, os.fsdecode(said))
    return os.path.realpath(os.path.dirname(path)) if said else ""


def _team(env: Mapping[str, str]) -> str:
    home = env.get("HOME", "")
    cache = env.get("XDG_CACHE_HOME", "") or (f"{home}/.cache" if home else "")
    return f"{cache}/wt-tools/team_status.json" if cache else ""
