"""The holder of a lock, according to the kernel, and the names of users.

The text in a lock file is from the last holder that wrote it, which may not be the
current one. A lock also outlives the process that took it, as long as a child runs that
inherited it.
"""

from __future__ import annotations

import os
import pwd

from wc_core.base import mounts
from wc_core.base.files import read_plain
from wc_core.base.lean import contextlib
from wc_core.base.phrases import quoted
from wc_core.base.processes import is_running
from wc_core.base.programs import program_path
from wc_core.base.values import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_LSOF_SECONDS = 10
# In a line of /proc/locks: "1: FLOCK ADVISORY WRITE 4711 fe:00:1234 0 EOF".
_KIND, _PID, _FILE = 1, 4, 5


class Holder(NamedTuple):
    """The holder of a lock, according to its file or the kernel; unknown without a
    ``pid``."""

    pid: str
    name: str
    since: str
    machine: str

    def __str__(self) -> str:
        if not self.pid:
            return "another process"
        place = "" if self.machine == os.uname().nodename else f" on {self.machine}"
        since = f", since {self.since}" if self.since else ""
        return f"{self.name} (process {self.pid}{place}{since})"

    @property
    def is_alive(self) -> bool:
        """Whether the process is known to run; a process on another machine never
        is."""
        is_local = self.machine == os.uname().nodename and self.pid.isdecimal()
        return is_local and is_running(int(self.pid))


def holder_of(path: str) -> Holder:
    """The last holder of a lock, according to its file."""
    try:
        text = (read_plain(path) or b"").decode(errors="replace")
    except OSError:
        text = ""
    pid, since, name, machine = [*text.splitlines(), "", "", "", ""][:4]
    return Holder(pid, name, since, machine)


class LockOwners(NamedTuple):
    """The visible processes of this machine that hold a lock. ``local``: no process of
    another machine can hold it, so one of this machine does, visible or not."""

    pids: tuple[int, ...] = ()
    local: bool = False


def lock_owners(path: str) -> LockOwners:
    """The owners of the lock ``path``, which the caller has found held."""
    if not os.path.isdir("/proc/self/fdinfo"):
        return LockOwners(tuple(pids_by_lsof(path)))
    try:
        file = os.stat(path)
    except OSError:
        return LockOwners()  # it was removed, and the lock with it
    pids = sorted({*_pids_by_descriptors(path, file), *_pids_by_lock_table(file)})
    network = mounts.network_type(mounts.mount_table(), os.path.realpath(path))
    return LockOwners(tuple(pids), local=not network)


def current_holder(path: str) -> Holder:
    """The holder of the lock ``path``: from its file, unless the kernel contradicts it.
    An invisible one has no process id."""
    named = holder_of(path)
    owners = lock_owners(path)
    own_machine = os.uname().nodename
    if named.machine == own_machine and named.pid in map(str, owners.pids):
        return named
    if owners.pids:
        pid = owners.pids[0]
        return Holder(str(pid), _program(pid), "", own_machine)
    if named.machine == own_machine and (owners.local or named.is_alive):
        return Holder("", "", "", "")
    return named


def _program(pid: int) -> str:
    """The name of the program that a process runs."""
    try:
        with open(f"/proc/{pid}/comm", errors="replace") as file:
            return file.read().strip() or "a program"
    except OSError:
        return "a program"


def _pids_by_descriptors(path: str, file: os.stat_result) -> Iterator[int]:
    """The processes that have the lock among their open files; other users' only for
    root."""
    for pid in filter(str.isdecimal, os.listdir("/proc")):
        with contextlib.suppress(OSError):  # it ended, or is another user's
            names = os.listdir(f"/proc/{pid}/fd")
            if any(_is_locked(pid, name, path, file) for name in names):
                yield int(pid)


def _is_locked(pid: str, descriptor: str, path: str, file: os.stat_result) -> bool:
    """Return whether an open file is ``path``, and has a lock."""
    link = f"/proc/{pid}/fd/{descriptor}"
    with contextlib.suppress(OSError):
        # Only this name: a call on other files may block if their file server is gone.
        if os.path.basename(os.readlink(link)) != os.path.basename(path):
            return False
        if not os.path.samestat(os.stat(link), file):
            return False
        with open(f"/proc/{pid}/fdinfo/{descriptor}", errors="replace") as info:
            return any(line.startswith("lock:") for line in info)
    return False


def _pids_by_lock_table(file: os.stat_result) -> Iterator[int]:
    """The processes, of any user, that took the lock of a file and still run."""
    device = f"{os.major(file.st_dev):02x}:{os.minor(file.st_dev):02x}"
    with contextlib.suppress(OSError), open("/proc/locks") as table:
        for line in table:
            words = line.split()
            # For a process that waits for the lock, the second word is an arrow.
            if words[_KIND] == "FLOCK" and words[_FILE] == f"{device}:{file.st_ino}":
                pid = int(words[_PID])
                if pid > 0 and os.path.isdir(f"/proc/{pid}"):
                    yield pid


def pids_by_lsof(path: str) -> Iterator[int]:
    """The processes that have a file open, for systems without /proc."""
    import subprocess  # 8 ms, not needed where there is /proc

    try:
        done = subprocess.run(  # noqa: S603 - no shell, and no options of others
            [program_path(os.environ, "lsof"), "-t", "--", path],
            check=False,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=_LSOF_SECONDS,
        )
    except (OSError, subprocess.TimeoutExpired):
        return
    yield from (int(word) for word in done.stdout.split() if word.isdigit())


def user_name(uid: int) -> str:
    """The name of a user of the system; the number if it has none."""
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return f"uid {uid}"


def as_user(uid: int) -> str:
    """The command that runs wc as a user of the system."""
    name = user_name(uid)
    word = f"'#{uid}'" if name.startswith("uid ") else quoted(name)
    return f"sudo -u {word} wc …"
