"""``wc-observe``: starts the read-only server, over standard input and output, over
HTTP, or as a web page.

Most imports are inside functions: a signal must be able to end the program before
FastMCP is imported, which takes up to 1 s, and each kind of server imports only its own
libraries.
"""

from __future__ import annotations

import contextlib
import errno
import gc
import os
import signal
import sys
from typing import TYPE_CHECKING, NoReturn

from wc_core.base import extras
from wc_core.base.errors import InvalidInputError, StorageError, WcError
from wc_core.base.version import __version__

if TYPE_CHECKING:
    from types import FrameType
    from typing import TextIO

    from wc_observe.callers.calls import ServerContext
    from wc_observe.http.options import HttpOptions
    from wc_observe.stores.graphdb.reader import GraphReader
    from wc_observe.web.options import WebOptions

USAGE = """\
usage: wc-observe [--help | --version | --all-stores | --graph URL]
       wc-observe --transport http [OPTION]...
       wc-observe web [OPTION]...

Serves the threads of this repository to MCP clients, over standard input and
output. Read-only. The store is that of the client's root
folder, else of CLAUDE_PROJECT_DIR, else of the current folder; WATERCOOLER_DIR
names another.

With --all-stores it also looks into the stores of all repositories on this
machine: list_inbox shows what needs the caller in any of them, and search_threads
has scope="all".

With --graph it uses a graph database for these, such as
falkordb://localhost:6379/threads, which wc project fills.

With --transport http it listens on 127.0.0.1 instead; for its options:
wc-observe --transport http --help

With web it shows the threads in your browser, on this machine only; for its
options: wc-observe web --help

To write: wc help.
"""

_AT_TERMINAL = """\
wc-observe: waiting for an MCP client on this terminal; to stop: Ctrl-C
wc-observe: for the web page: wc-observe web; to connect your agents: wc install
"""
_ALL_STORES = "--all-stores"
_GRAPH = "--graph"
_USAGE_ERROR = 2
_INTERRUPTED = 130
# The number of new objects after which Python looks for garbage.
_ALLOCATIONS = 10_000


def main() -> None:
    """Runs the command. Exits with 0, or with 2 for unknown arguments."""
    arguments = sys.argv[1:]
    url, own_arguments = _option(_GRAPH, arguments)
    own_arguments = [word for word in own_arguments if word != _ALL_STORES]
    is_stdio = own_arguments in ([], ["--transport", "stdio"], ["--transport=stdio"])
    if is_stdio:
        _explain_to_person()
        all_stores = _ALL_STORES in arguments or bool(url)
        serve(all_stores=all_stores, url=url)
    elif any(argument.startswith("--transport") for argument in arguments):
        serve_http(arguments)
    elif arguments[:1] == ["web"]:
        serve_web(arguments[1:])
    elif arguments in (["--help"], ["-h"]):
        _print(USAGE)
    elif arguments == ["--version"]:
        _print(f"wc-observe {__version__}\n")
    else:
        sys.stderr.write(
            f"wc-observe: cannot use {' '.join(map(repr, arguments))}\n{USAGE}"
        )
        raise SystemExit(_USAGE_ERROR)


def _explain_to_person() -> None:
    """Explain at a terminal what it waits for: hardly anyone types MCP by hand."""
    if sys.stdin is not None and sys.stdin.isatty() and sys.stderr is not None:
        sys.stderr.write(_AT_TERMINAL)


def _option(name: str, arguments: list[str]) -> tuple[str, list[str]]:
    """Returns the value of an option, empty without one, and the other arguments."""
    words = [part for word in arguments for part in _halves(name, word)]
    if name not in words[:-1]:
        return "", arguments
    position = words.index(name)
    return words[position + 1], [*words[:position], *words[position + 2 :]]


def _halves(name: str, word: str) -> list[str]:
    return word.split("=", 1) if word.startswith(f"{name}=") else [word]


def _graph(url: str) -> GraphReader | None:
    """Returns the reader of the graph at a URL; ``None`` without one."""
    if not url:
        return None
    # Only for a graph, see above.
    from wc_core.reading.graphdb import address
    from wc_observe.stores.graphdb.reader import GraphReader

    return GraphReader(address.parse(url, os.environ))


def serve(*, all_stores: bool = False, url: str = "") -> None:
    """Serves standard input until it ends or a signal comes. With ``all_stores``, the
    tools that look beyond one store are included; they use the graph at ``url`` if
    there is one. Exits with 2 if the URL is invalid."""
    _prepare_start()
    _require_open(sys.stdin, sys.stdout)
    try:
        graph = _graph(url)
    except WcError as error:
        raise _report_error(error) from error
    # 15 ms, only here.
    from wc_observe.front.firstanswers import REPEATED_ID
    from wc_observe.front.opening import open_desk, repaired_input

    desk = open_desk(os.environ, all_stores=all_stores, leave=_leave)
    # Up to 1 s: FastMCP. The signal handlers and its settings come first.
    from wc_observe.mcp.server import build_server
    from wc_observe.mcp.stdio import serve_stdio

    context = _server_context(dict(os.environ))
    server = build_server(context._replace(all_stores=all_stores, graph=graph))
    _finish_start()
    unread = desk.hand_over() if desk is not None else b""
    sys.stdin = repaired_input(sys.stdin.buffer, unread)
    try:
        serve_stdio(server, REPEATED_ID if desk is not None else "")
    except* OSError as errors:
        _leave(_first_error(errors))


def serve_http(arguments: list[str]) -> None:
    """Serves HTTP until a signal comes. Exits with 0, or prints why it cannot serve."""
    from wc_observe.http import options as httpoptions  # 9 ms, only for HTTP

    options = httpoptions.read(arguments, os.environ)
    _prepare_start()
    try:
        _serve_network(options)
    except WcError as error:
        raise _report_error(error) from error
    _exit_now()


def serve_web(arguments: list[str]) -> None:
    """Serves the web page until a signal comes. Exits with 0, or prints why it cannot
    serve."""
    from wc_observe.web import options as weboptions  # 3 ms, only for the page

    options = weboptions.read(arguments)
    _require_open(sys.stdout)
    _prepare_start()
    try:
        _serve_page(options)
    except WcError as error:
        raise _report_error(error) from error
    _exit_now()


def _serve_page(options: WebOptions) -> None:
    from wc_observe.http import address as httpaddress  # 50 ms, only here

    address = httpaddress.loopback_address(options.host, options.port)
    # 0.2 s: Starlette and uvicorn, after the address was checked.
    from wc_observe.web import server as webserver

    env = dict(os.environ)
    if options.name:
        env["WATERCOOLER_AGENT"] = options.name
    context = _server_context(env)._replace(all_stores=options.all_stores)
    gc.freeze()
    gc.enable()
    webserver.serve(address, options, context)


def _report_error(error: WcError) -> SystemExit:
    text = f"wc-observe: {error.message}\n{error.hint}".rstrip()
    sys.stderr.write(f"{text}\n")
    return SystemExit(error.exit_code)


def _exit_now() -> NoReturn:
    # A call that did not end in time may still occupy its thread.
    sys.stderr.flush()
    os._exit(0)


def _serve_network(options: HttpOptions) -> None:
    from importlib.util import find_spec  # only for HTTP

    from wc_observe.http import address as httpaddress  # 50 ms, only here

    address = httpaddress.listening_address(options)
    if find_spec("prometheus_client") is None:
        raise InvalidInputError(
            "--transport http needs prometheus-client, which is not installed.",
            f"Install it: {extras.adding('http')}",
        )
    graph = _graph(options.graph)
    context = _server_context(dict(os.environ))
    context = context._replace(all_stores=graph is not None, graph=graph)
    httpaddress.check_stores(options, context)
    # Up to 1 s: FastMCP, Starlette and uvicorn, after address and stores were checked.
    from wc_observe.http import app as httpserver

    _finish_start()
    httpserver.serve(address, options, context)


def _prepare_start() -> None:
    # A signal may come at any time, even during the imports. There is nothing to clean
    # up, and the thread that reads standard input would keep the interpreter alive.
    signal.signal(signal.SIGTERM, _exit_on_signal)
    signal.signal(signal.SIGINT, _exit_on_signal)
    _current_folder()
    # FastMCP reads these when it is imported: it must not query a package index for
    # updates, nor take settings from the .env file of the current project.
    os.environ.setdefault("FASTMCP_CHECK_FOR_UPDATES", "off")
    os.environ.setdefault("FASTMCP_ENV_FILE", os.devnull)
    os.environ.setdefault("FASTMCP_LOG_LEVEL", "WARNING")
    # Importing makes many objects and hardly any garbage: collecting in the meantime
    # takes a tenth of the start-up time.
    gc.disable()
    # Reading a thread makes many objects, too: with Python's default of 700, collecting
    # takes a tenth of the time of such a call, and finds nothing.
    gc.set_threshold(_ALLOCATIONS)


def _finish_start() -> None:
    """Configures logging, and exempts imported objects from garbage collection."""
    import logging  # 6 ms before the signal handlers if it were at the top

    # Clients get the error about invalid arguments; the log need not repeat it.
    logging.getLogger("fastmcp.server.server").setLevel(logging.ERROR)
    gc.freeze()
    gc.enable()


def _require_open(*streams: TextIO | None) -> None:
    """End the process if it was started with one of these streams closed."""
    if None in streams:
        _leave(OSError(errno.EBADF, os.strerror(errno.EBADF)))


def _print(text: str) -> None:
    _require_open(sys.stdout)
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except OSError as error:
        _leave(error)


def _first_error(errors: BaseExceptionGroup[OSError]) -> OSError:
    first = errors.exceptions[0]
    return first if isinstance(first, OSError) else _first_error(first)


def _leave(error: OSError | None) -> NoReturn:
    """End the process, normally or because of an ``error`` at the client's end."""
    if error is None or isinstance(error, BrokenPipeError):
        os._exit(0)  # the client is gone: no one to report to
    _report_error(StorageError(f"Standard input or output failed: {error.strerror}."))
    sys.stderr.flush()
    os._exit(StorageError.exit_code)


def _exit_on_signal(signum: int, _: FrameType | None) -> NoReturn:
    os._exit(_INTERRUPTED if signum == signal.SIGINT else 0)


def _server_context(env: dict[str, str]) -> ServerContext:
    # 2 ms, only to serve
    from wc_observe.callers.calls import ServerContext, system_ms

    return ServerContext(_current_folder(), env, system_ms)


def _current_folder() -> str:
    try:
        return os.getcwd()
    except FileNotFoundError:
        # The current folder was deleted, which libraries do not handle well. A client's
        # root may still be valid.
        former = ""
        with contextlib.suppress(OSError):  # only Linux knows what it was
            former = os.readlink("/proc/self/cwd").removesuffix(" (deleted)")
        os.chdir("/")
        return former or "/"
