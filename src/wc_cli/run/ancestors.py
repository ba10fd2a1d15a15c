"""The processes that started this one, for `wc_core.people.identity.ancestry`.

Read from /proc, which takes a fraction of a millisecond, or otherwise from ps.
"""

from __future__ import annotations

import os

from wc_core.base.lean.functools import partial
from wc_core.base.programs import program_path
from wc_core.people.identity import ancestry
from wc_core.people.identity.ancestry import Ancestor, program_name, script_word

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_MOST = 64
_SERVER = "wc-observe"
_SHARED = frozenset({"web", "http", "--transport=http"})
# Fields of proc_pid_stat(5) behind the program's name.
_PARENT, _SESSION, _TERMINAL = 1, 3, 4
_PSEUDO_TERMINALS, _CONSOLES = 136, 4
_PS_OPTIONS = ("-A", "-o", "pid=,ppid=,stat=,tty=,args=")
_PS_SECONDS = 2.0


def agent_above(env: Mapping[str, str]) -> str:
    """The agent among the processes above this one, see `ancestry.agent_above`."""
    return ancestry.agent_above(ancestors(), env)


def session_process(env: Mapping[str, str]) -> int:
    """The process with which this command's session ends, see
    `ancestry.session_process`. 0 if unknown, and always 0 without /proc, because
    process ids are reused."""
    detects = env.get("WATERCOOLER_DETECT", "") != "off"
    if not detects or not os.path.exists("/proc/self/stat"):
        return 0
    return ancestry.session_process(_from_proc(os.getppid()))


def client_process() -> int:
    """The process that ran this command: the nearest one above it that is not a shell;
    0 if none is visible."""
    return next((process.pid for process in ancestors() if not process.is_shell), 0)


def ancestors() -> Iterator[Ancestor]:
    """Yield the visible processes above this one, the nearest first."""
    if os.path.exists("/proc/self/stat"):
        yield from _from_proc(os.getppid())
    else:
        yield from _from_ps(os.getppid())


# --- /proc ----------------------------------------------------------------------


def _from_proc(pid: int) -> Iterator[Ancestor]:
    for _ in range(_MOST):
        try:
            with open(f"/proc/{pid}/stat", "rb") as file:
                # The preceding name, in brackets, may contain blanks and brackets.
                fields = file.read().rpartition(b")")[2].split()
            words = _words_of(pid)
            parent, session, device = (
                int(fields[i]) for i in (_PARENT, _SESSION, _TERMINAL)
            )
        except (OSError, ValueError, IndexError):
            return
        yield Ancestor(
            words,
            _script_of(pid, words),
            device != 0,
            session == pid,
            partial(_reads_keys, _terminal_path(device)),
            partial(_is_parent_of_server, pid),
            pid,
            _executable_of(pid),
        )
        pid = parent
        if pid <= 0:
            return


def _words_of(pid: int | str) -> tuple[str, ...]:
    with open(f"/proc/{pid}/cmdline", "rb") as file:
        return tuple(os.fsdecode(file.read()).rstrip("\0").split("\0"))


def _executable_of(pid: int) -> str:
    """The path of a process's executable; empty for another user's."""
    try:
        # An update of the program has deleted the file, which the kernel says.
        return os.readlink(f"/proc/{pid}/exe").removesuffix(" (deleted)")
    except OSError:
        return ""


def _script_of(pid: int, words: tuple[str, ...]) -> str:
    """The path of a script with symbolic links resolved: npm makes some in its bin."""
    word = script_word(words)
    if not word:
        return ""
    try:
        folder = "/" if os.path.isabs(word) else os.readlink(f"/proc/{pid}/cwd")
    except OSError:
        folder = "/"
    return os.path.realpath(os.path.join(folder, word))


def _terminal_path(device: int) -> str:
    major, minor = os.major(device), os.minor(device)
    if major == _PSEUDO_TERMINALS:
        return f"/dev/pts/{minor}"
    return f"/dev/tty{minor}" if major == _CONSOLES else ""


def _reads_keys(path: str) -> bool:
    """Return whether a terminal is in the mode in which a program reads each key."""
    import termios  # 1 ms, only where an agent may have a terminal

    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOCTTY | os.O_NONBLOCK)
    except OSError:
        return False
    try:
        return not termios.tcgetattr(handle)[3] & termios.ICANON
    except termios.error:
        return False
    finally:
        os.close(handle)


def _is_parent_of_server(pid: int) -> bool:
    """Return whether a process started our MCP server, directly or through a shell, and
    speaks to it."""
    try:
        for thread in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{thread}/children", encoding="utf-8") as file:
                children = file.read().split()
            if any(_is_server(child) and _speaks_to(pid, child) for child in children):
                return True
    except OSError:
        return False  # it has ended, or the kernel keeps no such list
    return False


def _is_server(pid: str) -> bool:
    try:
        words = _words_of(pid)
    except OSError:
        return False
    return _names_server(words)


def _speaks_to(pid: int, child: str) -> bool:
    """Return whether a process holds the other end of its child's standard input. A
    process that adopted the server of a client that has ended does not, nor does one
    that only starts it. The other end of a socket cannot be seen: any socket counts.
    """
    folder = f"/proc/{pid}/fd"
    try:
        read_from = os.readlink(f"/proc/{child}/fd/0")
        kind = read_from.partition(":")[0]
        if kind not in {"pipe", "socket"}:
            return False
        expected = read_from if kind == "pipe" else "socket:"
        return any(
            os.readlink(f"{folder}/{name}").startswith(expected)
            for name in os.listdir(folder)
        )
    except OSError:
        return False


def _names_server(words: tuple[str, ...]) -> bool:
    """Return whether a command line is that of a server for the program that started
    it. A server for the page or HTTP belongs to nobody: init may have adopted it."""
    names = [program_name((word,)) for word in words[:4]]
    if _SERVER not in names:
        return False
    options = words[names.index(_SERVER) + 1 :]
    return not _SHARED.intersection(options)


# --- ps -------------------------------------------------------------------------


def _from_ps(pid: int) -> Iterator[Ancestor]:
    """The ancestors from ps, which runs once for all processes; blanks in paths are
    lost."""
    table = _ps_table()
    for _ in range(_MOST):
        if pid not in table:
            return
        parent, state, terminal, words = table[pid]
        path = f"/dev/{terminal}" if terminal.strip("?-") else ""
        serves = any(row[0] == pid and _names_server(row[3]) for row in table.values())
        yield Ancestor(
            words,
            os.path.realpath(script_word(words)) if script_word(words) else "",
            bool(path),
            "s" in state,
            partial(_reads_keys, path),
            partial(bool, serves),
            pid,
        )
        pid = parent


def _ps_table() -> dict[int, tuple[int, str, str, tuple[str, ...]]]:
    """The parent, state, terminal and command line of each process."""
    import subprocess  # 8 ms, not needed where there is /proc

    try:
        done = subprocess.run(  # noqa: S603 - fixed words, no shell
            [program_path(os.environ, "ps"), *_PS_OPTIONS],
            capture_output=True,
            timeout=_PS_SECONDS,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return {}
    table = {}
    for line in os.fsdecode(done.stdout).splitlines():
        fields = line.split(None, 4)
        if len(fields) == 5 and fields[0].isdecimal() and fields[1].isdecimal():  # noqa: PLR2004
            pid, parent, state, terminal, words = fields
            row = (int(parent), state, terminal, tuple(words.split()))
            table[int(pid)] = row
    return table
