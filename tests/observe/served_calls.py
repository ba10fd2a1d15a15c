"""The server over HTTP in a process that refuses to write, to start anything,
and to connect to anyone but the one who knows the tokens:
``python -m tests.observe.served_calls PORT-OF-THAT-ONE OPTION...``.

It serves until a signal comes. Then it tries what it must not do, and prints
what was refused before and after as JSON.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import sys
from pathlib import Path
from typing import Any

from tests.observe.every_call import WriteError, arm
from wc_observe.callers.calls import ServerContext
from wc_observe.http import options as httpoptions
from wc_observe.http.address import listening_address
from wc_observe.http.app import serve


class Permission:
    """To listen once, on loopback; to ask about tokens."""

    def __init__(self, port: int) -> None:
        self._port = port
        self.listened = 0
        self.asked = 0

    def __call__(self, event: str, args: tuple[Any, ...]) -> bool:
        if event == "socket.bind" and args[1][0] == "127.0.0.1":
            self.listened += 1
            return self.listened == 1
        if event == "socket.connect" and args[1] == ("127.0.0.1", self._port):
            self.asked += 1
            return True
        return False


def main() -> None:
    """Serve, then tell."""
    options = httpoptions.read(["--transport", "http", *sys.argv[2:]], os.environ)
    address = listening_address(options)
    start = ServerContext(os.getcwd(), dict(os.environ), lambda: 1_770_000_000_000)
    permission = Permission(int(sys.argv[1]))
    refused = arm(permission)
    serve(address, options, start)
    served = [*refused]
    for act in (
        lambda: socket.create_connection(("127.0.0.1", 9)),
        lambda: socket.create_server(("127.0.0.1", 0)),
        lambda: socket.create_server(("0.0.0.0", 0)),
        lambda: Path("written").write_text("x"),
    ):
        with contextlib.suppress(WriteError):
            act()
    told = {
        "refused": served,
        "asked": permission.asked,
        "bitten": len(refused) - len(served),
    }
    sys.stdout.write(json.dumps(told))


if __name__ == "__main__":
    main()
