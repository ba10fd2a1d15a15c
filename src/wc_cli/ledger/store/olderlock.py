"""The older tool's lock of a thread: a file in the root of the store while it writes.

That tool reads the files of a thread and replaces them a moment later. An entry
appended in between would be lost, so wc waits for that lock, and holds it while it
changes a thread. The caller holds our own lock of the thread. The older tool's lock is
a second name of our lock file: created atomically, and recognized if its process is
killed.

A lock expires after the older tool's own limit, or when the process that made it has
ended.
"""

from __future__ import annotations

import os
import time

from wc_cli.ledger.store import durable
from wc_core.base.errors import LockTimeoutError, StorageError
from wc_core.base.files import read_plain
from wc_core.base.lean import contextlib
from wc_core.base.processes import is_running

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from wc_core.base.layout import Layout

# The older tool's limit: it breaks a lock that is older.
_FRESH_SECONDS = 10.0
# Longer than any of its writes takes: an older lock is abandoned if its process is
# gone.
_WRITE_SECONDS = 2.0
# Much longer than it takes to write the text of a new lock.
_SIGNING_SECONDS = 0.5
_PAUSE = 0.005
# If many processes take turns, a writer waits this many times longer.
_CROWD = 10
_MAX_BYTES = 4096


@contextlib.contextmanager
def locked(layout: Layout, topic: str, seconds: float) -> Iterator[None]:
    """Hold the older tool's lock of a thread for a block.

    If a file cannot have two names, wc continues without that lock. Raises
    LockTimeoutError, naming the process, when one process has held it for ``seconds``,
    or many in turn for ten times as long.
    """
    path, own = layout.older_lock(topic), layout.lock(topic)
    is_made = _take(path, own, layout.root, seconds)
    try:
        yield
    finally:
        # It belongs to someone else if that tool broke the lock because the block took
        # too long.
        if is_made and _is_same_file(path, own):
            with contextlib.suppress(StorageError):  # the block has done its work
                durable.remove(path, layout.root)


def _take(path: str, own: str, root: str, seconds: float) -> bool:
    """Take a lock. Returns whether it could be made."""
    start = since = time.monotonic()
    lock_ns = 0
    while True:
        try:
            durable.link(own, path, root)
        except FileExistsError:
            pass
        except OSError:
            return False
        else:
            return True
        if _is_left(path, own, root):
            try:
                durable.remove(path, root)
            except StorageError:
                return False
            continue
        now = time.monotonic()
        if lock_ns != (lock_ns := _made_ns(path)):
            since = now
        if now - since >= seconds or now - start >= seconds * _CROWD:
            raise _timeout_error(path, root)
        time.sleep(_PAUSE)


def _made_ns(path: str) -> int:
    """The time at which a lock was made; 0 if it is gone."""
    try:
        return os.lstat(path).st_mtime_ns
    except OSError:
        return 0


def _is_left(path: str, own: str, root: str) -> bool:
    """Return whether a lock has expired."""
    made_ns = _made_ns(path)
    if not made_ns:
        return False  # gone: try again
    if _is_same_file(path, own):
        return True  # from a killed wc: the caller has our own lock
    text = _text(path, root)
    # In a copy of the store it is a separate file, which begins with the process, as
    # `locks.sign` writes it. Topics with non-ASCII letters may share a lock.
    maker = text.partition("\n")[0]
    if maker.isdecimal() and not _may_run(maker):
        return True
    age = abs(time.time() - made_ns / 1e9)
    if age > _FRESH_SECONDS or (age > _SIGNING_SECONDS and not text):
        return True
    return age > _WRITE_SECONDS and not _may_run(_words(text).get("pid", ""))


def _is_same_file(path: str, own: str) -> bool:
    try:
        return os.path.samestat(os.lstat(path), os.lstat(own))
    except OSError:
        return False


def _text(path: str, root: str) -> str:
    try:
        return (read_plain(path, root, _MAX_BYTES) or b"").decode(errors="replace")
    except OSError:
        return ""


def _words(text: str) -> dict[str, str]:
    """The fields that the older tool writes into a lock: ``pid``, ``time``, ``user``,
    ``cwd``."""
    pairs = (word.partition("=") for word in text.split())
    return {name: value for name, _, value in pairs}


def _may_run(pid: str) -> bool:
    """Return whether the process named in a lock may still run; an unknown one may."""
    return not pid.isdecimal() or is_running(int(pid))


def _timeout_error(path: str, root: str) -> LockTimeoutError:
    words = _words(_text(path, root))
    pid, user, since = (words.get(name, "") for name in ("pid", "user", "time"))
    process = f"process {pid}" if pid else "unknown process"
    parts = [process, f"of {user}" if user else "", f"since {since}" if since else ""]
    details = ", ".join(filter(None, parts))
    return LockTimeoutError(
        f"Another tool is writing to the thread ({details}).",
        f"Nothing was written. Its lock is {os.path.basename(path)}. "
        "Try again, or wait longer: --lock-timeout 10",
    )
