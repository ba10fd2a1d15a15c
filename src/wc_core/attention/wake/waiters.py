"""The agent sessions that can be woken: a file for each, ``waiters/<name>`` in the
private folder (`wc_core.ledger.git.private`), which no push fills.

The name is ``<client>:<session>``, made `layout.safe_name`. The file is JSON. It is
written when a session's turn ends; ``token`` names the process that waits for its
balls, and is empty while the agent is working. A file whose process has ended means
nothing.

Where a repository has no store yet, the same files are beside the folder in which it
will be (`early`), until the first write makes it.

`off_until_ms` reads the switch with which a person stops the waking, ``wc wake off``.
"""

from __future__ import annotations

import math

from wc_core.base import processes
from wc_core.base.errors import WcError
from wc_core.base.files import names_in, read_plain
from wc_core.base.layout import EARLY, Layout, safe_name
from wc_core.base.lean import json
from wc_core.base.text import whole_number
from wc_core.base.values import NamedTuple
from wc_core.ledger.git.private import private_layout, read_record

VERSION = 1
_MOST = 1000
_MAX_PID_DIGITS = 9
_MAX_DIGITS = 16


class Waiter(NamedTuple):
    """A session that can be woken.

    ``client`` is the word of `wc install`, ``agent`` the name under which it writes,
    ``keys`` are the holders (`balls.folders_of`) whose balls it may take. ``pid`` is
    the client's process, which started at ``begin`` (`processes.started`; 0 if
    unknown). ``token`` begins with the id of the process that waits, ``since_ns`` is
    when its turn ended, ``again`` says that a hook had made the agent go on before
    that. ``called`` are the balls for which it was called last
    (`wc_core.attention.wake.records`), ``person`` is whom the agent works for, empty if
    an older version wrote the file. ``held`` are the names of the balls that
    it had then; ``None`` if they are unknown, or too many for the file.
    """

    client: str
    session: str
    agent: str
    keys: tuple[str, ...]
    worktree: str
    pid: int = 0
    begin: int = 0
    token: str = ""
    since_ns: int = 0
    again: bool = False
    called: tuple[str, ...] = ()
    person: str = ""
    held: tuple[str, ...] | None = None

    @property
    def name(self) -> str:
        """The name of its file."""
        return safe_name(f"{self.client}:{self.session}")

    @property
    def is_waiting(self) -> bool:
        """Whether its agent is idle and a process waits for its balls."""
        pid = whole_number(self.token.partition(".")[0], _MAX_PID_DIGITS)
        return pid is not None and processes.is_running(pid)

    @property
    def is_deaf(self) -> bool:
        """Whether its agent is idle, and the process that waited for its balls was
        killed."""
        return bool(self.token) and not self.is_waiting

    @property
    def is_running(self) -> bool:
        """Whether its client still runs, as far as can be seen."""
        if not self.pid:
            return True
        if not self.begin:
            return processes.is_running(self.pid)
        return not processes.has_ended(self.pid, self.begin)

    def was_left_for(self, current: Waiter) -> bool:
        """Whether the client of this session has continued with another one, as after
        ``/clear``: both have the same process."""
        is_same = bool(self.pid) and (self.pid, self.begin) == (
            current.pid,
            current.begin,
        )
        return (
            is_same and self.name != current.name and self.since_ns <= current.since_ns
        )

    def to_bytes(self) -> bytes:
        """Returns the content of its file."""
        fields = {"version": VERSION} | self._asdict()
        return json.dumps(fields).encode()


def early(root: str) -> Layout:
    """Returns where the sessions of a repository are while it has no store: a folder
    beside ``root``, where the store will be."""
    return Layout(f"{root}{EARLY}")


def path_of(layout: Layout, name: str) -> str:
    """Returns the path of the file with this name."""
    return f"{private_layout(layout).waiters}/{name}"


def load(layout: Layout, name: str) -> Waiter | None:
    """Returns a session by the name of its file; ``None`` if there is none, or it
    cannot be read."""
    path, root = path_of(layout, name), private_layout(layout).root
    return read_record(path, root, VERSION, Waiter)


def sessions(layout: Layout) -> list[Waiter]:
    """Returns the sessions that could be woken when their last turns ended, also those
    that have not seen yet that there is a store now."""
    loaded = {}
    for folder in (early(layout.root), layout):
        try:
            private = private_layout(folder)
            names = names_in(private.waiters, private.root)[:_MOST]
        except WcError:
            continue
        for name in names:
            waiter = None if name.startswith("=") else load(folder, name)
            if waiter is not None:
                loaded[name] = waiter
    return [loaded[name] for name in sorted(loaded)]


def running(layout: Layout) -> list[Waiter]:
    """Returns the sessions that can be woken and whose clients run."""
    return [waiter for waiter in sessions(layout) if waiter.is_running]


def off_until_ms(layout: Layout) -> float:
    """Returns until when no one must be woken, in milliseconds since 1970: infinity
    without an end, 0 if agents may be woken. An unreadable switch is off forever,
    because a person set it."""
    # The store's is of an older wc. What a push fills can only let agents sleep.
    return max(_until_ms(private_layout(layout)), _until_ms(layout))


def _until_ms(layout: Layout) -> float:
    try:
        data = read_plain(layout.wake_switch, layout.root, _MAX_DIGITS * 2)
    except OSError:
        return math.inf
    if data is None:
        return 0
    until = whole_number(data.decode(errors="replace").strip(), _MAX_DIGITS)
    return math.inf if until is None else until
