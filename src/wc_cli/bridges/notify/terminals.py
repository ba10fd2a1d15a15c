"""The terminals in which a person uses ``wc``: recorded by each command, so that a
process without a terminal can notify them there.

``terminals/<tty>`` in the private folder has the process that leads the terminal's
session, and the sequences it understands. A terminal whose session has ended no longer
counts.
"""

from __future__ import annotations

import os
import stat

from wc_cli.bridges.notify.sequences import protocols_of
from wc_cli.ledger.store import durable
from wc_cli.ledger.store.localfiles import LocalFiles
from wc_core.base.errors import WcError
from wc_core.base.files import names_in, read_plain
from wc_core.base.layout import safe_name
from wc_core.base.lean import contextlib, json
from wc_core.base.values import NamedTuple
from wc_core.ledger.git.private import private_layout

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from wc_core.base.layout import Layout

_TTY = "/dev/tty"


class Terminal(NamedTuple):
    """A terminal: its device, the process that leads its session, the sequences for
    notifications, and whether tmux has to pass them on."""

    tty: str
    leader: int
    protocols: tuple[str, ...]
    tmux: bool

    def write(self, sequence: str) -> bool:
        """Write to the terminal, unless it accepts nothing now. Returns whether it was
        written."""
        return write_to(self.tty, sequence)


def own_terminal(env: Mapping[str, str]) -> Terminal:
    """The controlling terminal of this process, wherever its output goes."""
    return Terminal(_TTY, 0, protocols_of(env), bool(env.get("TMUX")))


def write_to(tty: str, sequence: str) -> bool:
    """Write to a terminal. Returns whether it was written."""
    flags = os.O_WRONLY | os.O_NOCTTY | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        handle = os.open(tty, flags)
    except OSError:
        return False
    try:
        os.write(handle, sequence.encode())
    except OSError:
        return False
    finally:
        os.close(handle)
    return True


def note_terminal(layout: Layout, env: Mapping[str, str]) -> None:
    """Record the terminal of this process, if it has one."""
    with contextlib.suppress(OSError, WcError):
        tty = next(os.ttyname(handle) for handle in range(3) if os.isatty(handle))
        terminal = Terminal(tty, os.getsid(0), protocols_of(env), bool(env.get("TMUX")))
        private = private_layout(layout)
        durable.make_private_folder(private.root)
        files = LocalFiles(private)
        path = f"terminals/{safe_name(tty)}"
        data = json.dumps(terminal._asdict()).encode()
        if files.has(path, data):
            files.note_visit(path)
        else:
            files.write(path, data)


def last_terminal(layout: Layout) -> Terminal | None:
    """The last used terminal that is still open; ``None`` if there is none. Files of
    terminals that are gone are removed."""
    try:
        private = private_layout(layout)
        names = names_in(private.terminals, private.root)
    except WcError:
        return None
    paths = [f"{private.terminals}/{name}" for name in names]
    paths.sort(key=_changed, reverse=True)
    for path in paths:
        terminal = _load(path, private.root)
        if terminal is not None and _is_open(terminal):
            return terminal
        with contextlib.suppress(WcError):
            durable.remove(path, private.root)
    return None


def _changed(path: str) -> float:
    try:
        return os.lstat(path).st_mtime
    except OSError:
        return 0.0


def _load(path: str, root: str) -> Terminal | None:
    try:
        fields = json.loads(read_plain(path, root) or b"null")
        protocols = tuple(map(str, fields["protocols"]))
        tmux = bool(fields["tmux"])
        return Terminal(str(fields["tty"]), int(fields["leader"]), protocols, tmux)
    except (OSError, ValueError, TypeError, LookupError, RecursionError):
        return None


def _is_open(terminal: Terminal) -> bool:
    """Return whether a terminal is ours and its session has not ended: its name may
    belong to another terminal by now."""
    try:
        info = os.stat(terminal.tty)
        if not stat.S_ISCHR(info.st_mode) or info.st_uid != os.getuid():
            return False
        return os.getsid(terminal.leader) == terminal.leader
    except PermissionError:
        return True  # macOS does not show other sessions
    except OSError:
        return False
