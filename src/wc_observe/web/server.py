"""``wc-observe web``: listens on this machine only and prints the address."""

from __future__ import annotations

import logging
import secrets
import sys
from typing import TYPE_CHECKING

from wc_core.base.errors import StorageError
from wc_observe.http.listening import Bounds, Service, base_url, listen
from wc_observe.web.app import build_site
from wc_observe.web.guard import OPEN

if TYPE_CHECKING:
    from wc_observe.callers.calls import ServerContext
    from wc_observe.http.address import Address
    from wc_observe.web.options import WebOptions

_BOUNDS = Bounds(connections=128, timeout=15.0, grace=1.0)
_SECRET_BYTES = 24
_HELP = (
    "Open this address in your browser. It works on this machine only and contains a "
    "secret; each start makes a new one. Ctrl-C stops the server."
)


def serve(address: Address, options: WebOptions, start: ServerContext) -> None:
    """Serves until a signal arrives. Raises StorageError if it cannot listen."""
    ticket = secrets.token_urlsafe(_SECRET_BYTES) if options.browser else ""
    site = build_site(
        start, secrets.token_urlsafe(_SECRET_BYTES), ticket, options.thread
    )

    def listening(host: str, port: int) -> None:
        logging.getLogger("uvicorn.error").disabled = False
        base = base_url(host, port)
        _say(f"{base}{site.path}", _HELP)
        if ticket:
            # webbrowser can start programs: imported only with --open.
            from wc_observe.web.opening import open_in_browser

            problem = open_in_browser(f"{base}/{OPEN}/{ticket}", start.env)
            _say("", problem)

    service = Service(site.app, site.under_way, _BOUNDS, listening)
    _listen(address, options, service)
    if sys.stderr.isatty():
        sys.stderr.write("\n")  # the prompt follows on a line without the ^C
        sys.stderr.flush()


def _listen(address: Address, options: WebOptions, service: Service) -> None:
    """Listen where it was asked for, or on any port if the default one is busy."""
    if options.named:
        listen(address.host, options.port, service)
        return
    try:
        # A busy default port needs no message: another port will do.
        logging.getLogger("uvicorn.error").disabled = True
        listen(address.host, options.port, service)
    except StorageError:
        logging.getLogger("uvicorn.error").disabled = False
        listen(address.host, 0, service)


def _say(result: str, beside: str) -> None:
    for stream, words in ((sys.stdout, result), (sys.stderr, beside)):
        if words:
            stream.write(f"{words}\n")
            stream.flush()
