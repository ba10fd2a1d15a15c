"""Is a `wc` that was just started, and becomes as many as it is asked for.

Run by `forking`, as a program of its own; standard input is the socket that it
is asked through. It has imported what every `wc` has before it looks at its words
and nothing else of `wc`; or, run with ``all``, everything but what loads Typer.
"""

from __future__ import annotations

import gc
import importlib
import marshal
import os
import pkgutil
import select
import socket
import struct
import sys
import time
import traceback

from wc_cli.main import main

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import NoReturn

NUMBER = struct.Struct("i")


def serve() -> None:
    """Fork until whoever asks is gone.

    Each asks with a socket, and what is to be standard input, output and error.
    The socket takes the process's number and then its exit status.
    """
    asked = socket.socket(fileno=os.dup(0))
    living: dict[int, tuple[int, socket.socket]] = {}
    while True:
        waited: list[socket.socket | int] = [asked, *living]
        for one in select.select(waited, [], [])[0]:
            if isinstance(one, int):
                os.close(one)
                pid, asker = living.pop(one)
                code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
                asker.sendall(NUMBER.pack(code))
                asker.close()
                continue
            data, handles, *_ = socket.recv_fds(asked, 1, 4)
            if not data:
                asked.close()
                return
            asker = socket.socket(fileno=handles.pop(0))
            ended, alive = os.pipe()  # the child's death closes its end
            pid = os.fork()
            if not pid:
                _become_it(asker, handles)
            for handle in (alive, *handles):
                os.close(handle)
            asker.sendall(NUMBER.pack(pid))
            living[ended] = (pid, asker)


def _become_it(asker: socket.socket, streams: Sequence[int]) -> NoReturn:
    """Be what is asked for: words, folder and environment."""
    try:
        for number, handle in enumerate(streams):
            os.dup2(handle, number)
            os.close(handle)
        with asker, asker.makefile("rb") as said:
            words, folder, env = marshal.load(said)
        os.chdir(folder)
        os.environb.clear()
        os.environb.update(env)
        time.tzset()
        sys.argv[1:] = map(os.fsdecode, words)
        main()
    except BaseException:  # noqa: BLE001 - as the interpreter would
        traceback.print_exc()
    finally:
        os._exit(1)


def _import_all() -> None:
    """Import what commands import when they need it."""
    import wc_cli
    import wc_core

    for package in (wc_core, wc_cli):
        for one in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
            if one.name != "wc_cli.app":
                importlib.import_module(one.name)


if __name__ == "__main__":
    if "all" in sys.argv:
        _import_all()
    # What the children only read is not copied.
    gc.freeze()
    serve()
