"""Is a `wc` that was just started, and becomes as many as it is asked for.

Run by `forking`, as a program of its own; standard input is the socket that it
is asked through. It has imported what every `wc` has before it looks at its words
and nothing else of `wc`; or, run with ``most``, all modules but those that load
large libraries, without which a fork takes half of the time; or, run with ``all``,
everything but what loads Typer.

Run with ``observe``, and the number of a second socket that others ask through,
it is a `wc-observe` that has imported all there is.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import importlib
import marshal
import os
import pkgutil
import select
import signal
import socket
import struct
import sys
import time
import traceback
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import NoReturn

NUMBER = struct.Struct("i")


_TYPER = ("wc_cli.run.app",)
# Modules that load Rich or NumPy, and what they are in.
_LARGE = (
    *("wc_cli.run.board", "wc_cli.bridges.enrich", "wc_cli.run.terminal.markdown"),
    "wc_core.reading.meaning",
)
# What `wc-observe` imports of others when it needs it.
_LATE = ("fastmcp.server.http", "mcp.server.stdio", "watchfiles")


def serve(main: Callable[[], None], *others: int) -> None:
    """Fork until whoever asks is gone.

    Each asks with a socket, and what is to be standard input, output and error.
    The socket takes the process's number and then its exit status; one that is
    closed before ends the process.
    """
    owner = socket.socket(fileno=os.dup(0))
    asking = [owner, *(socket.socket(fileno=one) for one in others)]
    living: dict[int, tuple[int, socket.socket]] = {}
    while True:
        askers = {asker: pid for pid, asker in living.values()}
        waited: list[socket.socket | int] = [*asking, *living, *askers]
        for one in select.select(waited, [], [])[0]:
            if isinstance(one, int):
                os.close(one)
                _tell_the_end(*living.pop(one))
            elif one in asking:
                data, handles, *_ = socket.recv_fds(one, 1, 4)
                if not data:
                    for left in (*asking, *askers):
                        left.close()
                    return
                pid, asker, ended = _fork(main, handles)
                living[ended] = (pid, asker)
            elif one.fileno() >= 0 and not one.recv(1, socket.MSG_PEEK):
                os.kill(askers[one], signal.SIGKILL)


def _fork(
    main: Callable[[], None], handles: Sequence[int]
) -> tuple[int, socket.socket, int]:
    """A child's number, who asked for it, and what tells of its end."""
    asker = socket.socket(fileno=handles[0])
    with asker.makefile("rb") as said:
        wanted = marshal.load(said)
    ended, alive = os.pipe()  # the child's death closes its end
    pid = os.fork()
    if not pid:
        asker.close()
        _become_it(main, wanted, handles[1:])
    for handle in (alive, *handles[1:]):
        os.close(handle)
    with contextlib.suppress(BrokenPipeError):
        asker.sendall(NUMBER.pack(pid))
    return pid, asker, ended


def _tell_the_end(pid: int, asker: socket.socket) -> None:
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    with asker, contextlib.suppress(BrokenPipeError):
        asker.sendall(NUMBER.pack(code))


def _become_it(
    main: Callable[[], None],
    wanted: tuple[Sequence[bytes], str, dict[bytes, bytes]],
    streams: Sequence[int],
) -> NoReturn:
    """Be what is asked for: words, folder and environment."""
    status = 1
    try:
        for number, handle in enumerate(streams):
            os.dup2(handle, number)
            os.close(handle)
        words, folder, env = wanted
        os.chdir(folder)
        os.environb.clear()
        os.environb.update(env)
        time.tzset()
        sys.argv[1:] = map(os.fsdecode, words)
        main()
        status = 0
    except SystemExit as left:
        status = left.code if isinstance(left.code, int) else int(bool(left.code))
    except BaseException:  # noqa: BLE001 - as the interpreter would
        traceback.print_exc()
    finally:
        atexit._run_exitfuncs()
        sys.stdout.flush()
        os._exit(status)


def _import_all(
    *packages: str, late: Sequence[str] = (), without: tuple[str, ...] = _TYPER
) -> None:
    """Import what commands import when they need it."""
    for name in packages:
        package = importlib.import_module(name)
        for one in pkgutil.iter_modules(package.__path__, f"{name}."):
            if one.name in without:
                continue
            if one.ispkg:
                _import_all(one.name, without=without)
            else:
                importlib.import_module(one.name)
    for name in late:
        importlib.import_module(name)


def _run() -> None:
    if "observe" in sys.argv:
        from wc_observe import main as observe

        observe._prepare_start()
        _import_all("wc_core", "wc_observe", late=_LATE)
        # What the children only read is not copied.
        gc.freeze()
        serve(observe.main, int(sys.argv[-1]))
        return
    from wc_cli.run.main import main

    if "all" in sys.argv:
        _import_all("wc_core", "wc_cli")
    if "most" in sys.argv:
        _import_all("wc_core", "wc_cli", without=(*_TYPER, *_LARGE))
    gc.freeze()
    gc.set_threshold(100_000)
    serve(main)


if __name__ == "__main__":
    _run()
