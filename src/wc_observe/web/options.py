"""What ``wc-observe web`` may be told, read and checked."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

# Beside that of ``--transport http``.
PORT = 8422


class WebOptions(NamedTuple):
    """Where to listen, as whom to look (empty: as whoever starts us), whether
    a browser is to be opened. ``named``: the port was asked for."""

    host: str
    port: int
    named: bool
    name: str
    browser: bool


def read(words: Sequence[str]) -> WebOptions:
    """The options in these words.

    Ends the process with the usage and status 2 where they cannot be used.
    """
    arguments = parser()
    said = arguments.parse_args(words)
    named = said.port is not None
    port = said.port if named else PORT
    if not 0 <= port <= 65535:  # noqa: PLR2004  (what a port is)
        arguments.error(f"--port cannot be {port}.")
    if not said.host.strip():
        arguments.error("--host is empty; it would mean every address.")
    return WebOptions(said.host, port, named, said.name, said.browser)


def parser() -> argparse.ArgumentParser:
    """What the words may be, and the help."""
    found = argparse.ArgumentParser(
        prog="wc-observe web",
        description="Shows the threads of this repository in a browser: the board, "
        "threads, search, the timeline; live. It reads; it cannot write.",
        epilog="Only this machine can open it, and only with the address that is "
        "printed. From another machine: ssh -L 8422:127.0.0.1:8422 HOST. For "
        "programs elsewhere: wc-observe --transport http.",
        allow_abbrev=False,
    )
    add = found.add_argument
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
        help="open it in the browser as well",
    )
    return found
