"""``wc-observe web`` in a process that refuses to write, to start anything and
to connect to anyone: ``python -m tests.observe.web.armed``.

It serves until a signal comes. Then it tries what it must not do, and prints
what was refused before, and how much after, as JSON.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import sys
import time
from pathlib import Path

from tests.observe.every_call import WriteError, arm
from tests.observe.served_calls import Permission
from wc_observe.callers.calls import ServerContext
from wc_observe.http.address import loopback_address
from wc_observe.web import options as weboptions
from wc_observe.web.server import serve


def main() -> None:
    """Serve, then tell."""
    options = weboptions.read(["--port", "0"])
    address = loopback_address(options.host, options.port)
    start = ServerContext(os.getcwd(), dict(os.environ), _now_ms)
    refused = arm(Permission(0))
    serve(address, options, start)
    served = [*refused]
    for act in (
        lambda: socket.create_connection(("127.0.0.1", 9)),
        lambda: socket.create_server(("127.0.0.1", 0)),
        lambda: Path("written").write_text("x"),
        lambda: subprocess.run(["true"], check=False),
    ):
        with contextlib.suppress(WriteError):
            act()
    told = {"refused": served, "bitten": len(refused) - len(served)}
    sys.stdout.write(json.dumps(told))


def _now_ms() -> int:
    return time.time_ns() // 1_000_000


if __name__ == "__main__":
    main()
