"""The session that a claim belongs to, and whether its process still runs.

It is written as ``HOST:PID:STARTED``. The host is a digest of everything that makes
process ids comparable: machine, boot, and the name space of the ids. If these are
unknown, the session is empty, and only time ends the claim.
"""

from __future__ import annotations

import os

from wc_core.base.lean import hashlib
from wc_core.base.lean.functools import cache
from wc_core.base.processes import has_ended, started

ENDED, RUNNING, UNKNOWN = "ended", "running", "unknown"

_PARTS = 3


@cache
def boot() -> str:
    """An id that changes with each start of this machine; empty if unknown."""
    try:
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
            return file.read().strip()
    except OSError:
        return ""


@cache
def host() -> str:
    """A digest of this machine and of its space of process ids; empty if unknown."""
    try:
        space = os.readlink("/proc/self/ns/pid")
    except OSError:
        return ""
    try:
        with open("/etc/machine-id", encoding="ascii", errors="replace") as file:
            machine = file.read()
    except OSError:
        machine = ""  # the boot id also distinguishes machines
    if not boot():
        return ""
    text = f"wc claims\n{machine}\n{boot()}\n{space}\n{os.uname().nodename}"
    data = text.encode(errors="replace")
    return hashlib.new("sha256", data, usedforsecurity=False).hexdigest()[:16]


def session_of(pid: int) -> str:
    """The session whose process is ``pid``; empty if it cannot be distinguished from
    others."""
    begin = started(pid) if pid > 0 else None
    return f"{host()}:{pid}:{begin}" if host() and begin is not None else ""


def state(session: str) -> str:
    """Whether the process of a session is `RUNNING` or has `ENDED`; `UNKNOWN` for one
    of another machine."""
    parts = session.split(":")
    if len(parts) != _PARTS or not host() or parts[0] != host():
        return UNKNOWN
    if not (parts[1].isdecimal() and parts[2].isdecimal()):
        return UNKNOWN
    ended = has_ended(int(parts[1]), int(parts[2]))
    return UNKNOWN if ended is None else (ENDED if ended else RUNNING)
