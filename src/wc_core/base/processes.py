"""Checks the processes of this machine: whether one runs, and for how long.

Signal 0 is never delivered: kill(2) only checks whether the process exists.
"""

from __future__ import annotations

import os
import time

_STARTED = 21  # field 22 of proc_pid_stat(5), counted from 0
_NAME_FIELDS = 2
_ENDED = (b"Z", b"X")


def is_running(pid: int) -> bool:
    """Whether there is a process with this id on this machine."""
    try:
        os.kill(pid, 0)
    except PermissionError:
        return True  # it belongs to another user
    except (ProcessLookupError, OverflowError):
        return False
    return True


def running_for(pid: int) -> float | None:
    """For how many seconds a process has been running; ``None`` without ``/proc``."""
    ticks = started(pid)
    if ticks is None:
        return None
    try:
        since_boot = time.clock_gettime(time.CLOCK_BOOTTIME)
    except (OSError, AttributeError):
        return None
    return max(0.0, since_boot - ticks / os.sysconf("SC_CLK_TCK"))


def started(pid: int) -> int | None:
    """When a process was started, in clock ticks after the boot; ``None`` if there is
    no such process, or no ``/proc``."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            # The program's name before it, in brackets, may have blanks and brackets.
            fields = file.read().rpartition(b")")[2].split()
        return int(fields[_STARTED - _NAME_FIELDS])
    except (OSError, ValueError, IndexError):
        return None


def has_ended(pid: int, begin: int) -> bool | None:
    """Whether the process that `started` at ``begin`` has ended; ``None`` if that is
    unknown, because the process belongs to someone whose processes are hidden."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            fields = file.read().rpartition(b")")[2].split()
        # A zombie has ended, but its parent has not collected it.
        return fields[0] in _ENDED or int(fields[_STARTED - _NAME_FIELDS]) != begin
    except (OSError, ValueError, IndexError):
        return None if is_running(pid) else True
