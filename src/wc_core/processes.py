"""Checks the processes of this machine: whether one runs, and for how long.

Signal 0 is never delivered: kill(2) only checks whether the process exists.
"""

from __future__ import annotations

import os
import time

_STARTED = 21  # field 22 of proc_pid_stat(5), counted from 0
_NAME_FIELDS = 2


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
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            # The program's name before it, in brackets, may have blanks and brackets.
            fields = file.read().rpartition(b")")[2].split()
        ticks = int(fields[_STARTED - _NAME_FIELDS])
        since_boot = time.clock_gettime(time.CLOCK_BOOTTIME)
        return max(0.0, since_boot - ticks / os.sysconf("SC_CLK_TCK"))
    except (OSError, ValueError, IndexError, AttributeError):
        return None
