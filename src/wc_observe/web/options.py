"""The options of ``wc-observe web``, parsed and checked."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from wc_core.base.values import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

# Next to the port of ``--transport http``.
PORT = 8422


class WebOptions(NamedTuple):
    """Where to listen, whose board to show, and whether to open a browser.

    ``name`` is empty for the user who starts the server; ``named`` if a port was given.
    ``all_stores`` requests every repository on this machine; ``thread`` is the topic of
    the first page, empty for the board.
    """

    host: str
    port: int
    named: bool
    name: str
    browser: bool
    all_stores: bool = False
    thread: str = ""


def read(words: Sequence[str]) -> WebOptions:
    """Parses the command line. If it is wrong, prints the usage and exits with status
    2."""
    arguments = parser()
    parsed = arguments.parse_args(words)
    named = parsed.port is not None
    port = parsed.port if named else PORT
    if not 0 <= port <= 65535:  # noqa: PLR2004  (what a port is)
        arguments.error(f"--port cannot be {port}.")
    if not parsed.host.strip():
        arguments.error("--host is empty; it would mean every address.")
    return WebOptions(**{**vars(parsed), "port": port, "named": named})


def parser() -> argparse.ArgumentParser:
    """Returns the parser, which also has the help text."""
    arguments = argparse.ArgumentParser(
        prog="wc-observe web",
        description="Shows the threads of this repository in a browser: the board, "
        "threads and search, live and read-only.",
        epilog="It can be opened on this machine only, with the printed address. "
        "From another machine: ssh -L 8422:127.0.0.1:8422 HOST. For "
        "programs elsewhere: wc-observe --transport http.",
        allow_abbrev=False,
    )
    add = arguments.add_argument
    add("--port", type=int, metavar="N", help=f"port, 0 for any ({PORT}, or any)")
    add("--host", default="127.0.0.1", help="address of this machine (127.0.0.1)")
    add(
        "--as",
        dest="name",
        default="",
        metavar="NAME",
        help="whose board it is (default: yours, as wc whoami says)",
    )
    add(
        "--open",
        dest="browser",
        action="store_true",
        help="also open it in the browser",
    )
    add(
        "--all",
        dest="all_stores",
        action="store_true",
        help="show all repositories on this machine, with a common inbox",
    )
    add(
        "--thread",
        default="",
        metavar="TOPIC",
        help="print and open the address of this thread (default: the board)",
    )
    return arguments
