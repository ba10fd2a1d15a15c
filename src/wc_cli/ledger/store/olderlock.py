"""The lock of an older tool that is writing a thread: a file in the root of the store.

That tool reads the files of a thread and replaces them a moment later. An entry
appended in between would be lost, so nothing is written while it holds its lock. wc
does not take that lock: only one tool at a time may write to a store.
"""

from __future__ import annotations

import os
import time

from wc_core.base.errors import LockTimeoutError
from wc_core.base.files import read_plain
from wc_core.base.processes import is_running

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wc_core.base.layout import Layout

# The older tool's limit: it breaks a lock that is older.
_FRESH_SECONDS = 10.0
# Longer than any of its writes takes: an older lock is abandoned if its process is
# gone.
_WRITE_SECONDS = 2.0
_PAUSE = 0.005
_MAX_BYTES = 4096


def wait(layout: Layout, topic: str, seconds: float) -> None:
    """Wait while the older tool holds its lock of a thread. The caller holds our own.

    Raises LockTimeoutError, naming the process, after ``seconds``.
    """
    path, own = layout.older_lock(topic), layout.lock(topic)
    deadline = time.monotonic() + seconds
    while _is_held(path, own, layout.root):
        if time.monotonic() >= deadline:
            raise _timeout_error(path, layout.root)
        time.sleep(_PAUSE)


def _is_held(path: str, own: str, root: str) -> bool:
    try:
        lock = os.lstat(path)
    except OSError:
        return False
    age = abs(time.time() - lock.st_mtime)
    if age > _FRESH_SECONDS:
        return False
    try:
        # An earlier wc made it, and was killed.
        if os.path.samestat(lock, os.lstat(own)):
            return False
    except OSError:
        pass
    pid = _words(path, root).get("pid", "")
    return age <= _WRITE_SECONDS or not pid.isdecimal() or is_running(int(pid))


def _words(path: str, root: str) -> dict[str, str]:
    """The fields that the older tool writes into a lock: ``pid``, ``time``, ``user``,
    ``cwd``."""
    try:
        text = (read_plain(path, root, _MAX_BYTES) or b"").decode(errors="replace")
    except OSError:
        return {}
    pairs = (word.partition("=") for word in text.split())
    return {name: value for name, _, value in pairs}


def _timeout_error(path: str, root: str) -> LockTimeoutError:
    words = _words(path, root)
    pid, user, since = (words.get(name, "") for name in ("pid", "user", "time"))
    process = f"process {pid}" if pid else "unknown process"
    parts = [process, f"of {user}" if user else "", f"since {since}" if since else ""]
    details = ", ".join(filter(None, parts))
    return LockTimeoutError(
        f"Another tool is writing to the thread ({details}).",
        f"Nothing was written. Its lock is {os.path.basename(path)}. "
        "Try again when it has finished: one tool at a time.",
    )
