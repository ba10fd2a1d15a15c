"""``wc-observe``: starts the read-only server on standard input and output."""

from __future__ import annotations

import gc
import os
import signal
import sys
import time
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from types import FrameType

    from wc_core.errors import WcError
    from wc_observe.http.options import HttpOptions
    from wc_observe.web.options import WebOptions

USAGE = """\
usage: wc-observe [--help | --version]
       wc-observe --transport http [OPTION]...
       wc-observe web [OPTION]...

Serves the threads of this repository to MCP clients, over standard input and
output. It reads; it cannot write. The store is that of the client's root
folder, else of CLAUDE_PROJECT_DIR, else of the current folder; WATERCOOLER_DIR
names another.

With --transport http it listens on 127.0.0.1 instead; for its options:
wc-observe --transport http --help

With web it shows them to you, in a browser, on this machine alone; for its
options: wc-observe web --help

To write: wc help.
"""

_USAGE_ERROR = 2
_INTERRUPTED = 130


def main() -> None:
    """Run the command; exits with 0, or 2 for arguments it does not know."""
    arguments = sys.argv[1:]
    if arguments in ([], ["--transport", "stdio"], ["--transport=stdio"]):
        serve()
    elif any(one.startswith("--transport") for one in arguments):
        serve_http(arguments)
    elif arguments[:1] == ["web"]:
        serve_web(arguments[1:])
    elif arguments in (["--help"], ["-h"]):
        sys.stdout.write(USAGE)
    elif arguments == ["--version"]:
        from wc_core.version import __version__

        sys.stdout.write(f"wc-observe {__version__}\n")
    else:
        sys.stderr.write(
            f"wc-observe: cannot use {' '.join(map(repr, arguments))}\n{USAGE}"
        )
        raise SystemExit(_USAGE_ERROR)


def serve() -> None:
    """Serve until standard input ends or a signal comes."""
    _prepare()
    from wc_observe.calls import ServerContext
    from wc_observe.mcp.server import build_server
    from wc_observe.mcp.surrogates import mending

    if sys.stdin is not None:
        sys.stdin = mending(sys.stdin.buffer)
    server = build_server(ServerContext(_folder(), dict(os.environ), _now_ms))
    _settle()
    try:
        server.run("stdio", show_banner=False, log_level="WARNING")
    except* BrokenPipeError:
        # The client is gone without a word; nobody is left to tell.
        os._exit(0)


def serve_http(arguments: list[str]) -> None:
    """Listen until a signal comes; exits with 0, or says what is in the way."""
    from wc_core.errors import WcError
    from wc_observe.http import options as httpoptions

    options = httpoptions.read(arguments, os.environ)
    _prepare()
    try:
        _listen(options)
    except WcError as error:
        raise _refused(error) from error
    _end()


def serve_web(arguments: list[str]) -> None:
    """Show the threads in a browser until a signal comes; exits with 0, or says
    what is in the way."""
    from wc_core.errors import WcError
    from wc_observe.web import options as weboptions

    options = weboptions.read(arguments)
    _prepare()
    try:
        _show(options)
    except WcError as error:
        raise _refused(error) from error
    _end()


def _show(options: WebOptions) -> None:
    from wc_observe.http import address as httpaddress

    address = httpaddress.loopback_address(options.host, options.port)
    from wc_observe.calls import ServerContext
    from wc_observe.web import server as webserver

    env = dict(os.environ)
    if options.name:
        env["WATERCOOLER_AGENT"] = options.name
    start = ServerContext(_folder(), env, _now_ms)
    gc.freeze()
    gc.enable()
    webserver.serve(address, options, start)


def _refused(error: WcError) -> SystemExit:
    told = f"wc-observe: {error.message}\n{error.hint}".rstrip()
    sys.stderr.write(f"{told}\n")
    return SystemExit(error.exit_code)


def _end() -> NoReturn:
    # A call that did not end in time may still have its thread.
    sys.stderr.flush()
    os._exit(0)


def _listen(options: HttpOptions) -> None:
    from importlib.util import find_spec

    from wc_core.errors import InvalidInputError
    from wc_observe.http import address as httpaddress

    address = httpaddress.listening_address(options)
    if find_spec("prometheus_client") is None:
        raise InvalidInputError(
            "--transport http needs the package prometheus-client, which is not here.",
            "Install wc with its extra, '.[http]', or: pip install prometheus-client",
        )
    from wc_observe.calls import ServerContext
    from wc_observe.http import server as httpserver

    start = ServerContext(_folder(), dict(os.environ), _now_ms)
    _settle()
    httpserver.serve(address, options, start)


def _prepare() -> None:
    # Whoever started us may stop us at any time, even while we import. There
    # is nothing to finish, and the thread that reads standard input would not
    # let the interpreter go.
    signal.signal(signal.SIGTERM, _leave)
    signal.signal(signal.SIGINT, _leave)
    _folder()
    # Read by FastMCP when it is imported: no question to a package index, and
    # no settings from the .env file of whatever project we are started in.
    os.environ.setdefault("FASTMCP_CHECK_FOR_UPDATES", "off")
    os.environ.setdefault("FASTMCP_ENV_FILE", os.devnull)
    os.environ.setdefault("FASTMCP_LOG_LEVEL", "WARNING")
    # Importing makes many objects and hardly any garbage: collecting meanwhile
    # takes a tenth of the start.
    gc.disable()


def _settle() -> None:
    """What was imported is there to stay, and is not looked through later; and
    it logs what we want it to."""
    if os.environ.get("WATERCOOLER_DEBUG"):
        from wc_observe.mcp import debuglog  # the usual start does without

        debuglog.take_over()
    else:
        import logging  # FastMCP has it imported by now

        # Who calls with arguments that do not fit is told; nobody else need be.
        logging.getLogger("fastmcp.server.server").setLevel(logging.ERROR)
    gc.freeze()
    gc.enable()


def _leave(signum: int, _: FrameType | None) -> NoReturn:
    os._exit(_INTERRUPTED if signum == signal.SIGINT else 0)


def _folder() -> str:
    try:
        return os.getcwd()
    except FileNotFoundError:
        # The folder we were started in is gone, which libraries do not take
        # well. A client's root may still name one.
        os.chdir("/")
        return "/"


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
