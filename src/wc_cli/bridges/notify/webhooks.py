"""Posts JSON to a webhook.

Only http and https, no redirects (they could lead anywhere and turn the post into a
get), and no more than a few seconds, however slowly a server answers. A webhook's URL
may contain a secret; the results never do.
"""

from __future__ import annotations

import base64
import contextlib
import json
import threading
from http.client import HTTPException
from urllib import parse, request

from wc_core.attention.notify.targets import NTFY, Target
from wc_core.base.text import one_line, whole_number
from wc_core.base.values import NamedTuple
from wc_core.base.version import __version__

TYPE_CHECKING = False
if TYPE_CHECKING:
    from email.message import Message
    from http.client import HTTPResponse
    from typing import Any

_SECONDS = 5.0
_MAX_ANSWER = 2048
_WIDTH = 120
_SUCCESS = range(200, 300)
_MAX_PAUSE_SECONDS = 3600
_DIGITS = 6
_SHORTEST_SECRET = 4
_SHORTEST_PART = 8
_FAILURES = (OSError, ValueError, HTTPException)


class WebhookAnswer(NamedTuple):
    """A server's answer: whether it accepted, the status in words, the beginning of the
    body, and how many milliseconds to pause if the server says so."""

    ok: bool
    status: str
    body: str = ""
    pause_ms: int = 0


def post(target: Target, payload: dict[str, Any]) -> WebhookAnswer:
    """Post a payload to a target."""
    answers: list[WebhookAnswer] = []
    # Socket timeouts end neither a server that sends a byte now and then, nor a slow
    # name lookup. An abandoned thread ends with this process.
    thread = threading.Thread(
        target=lambda: answers.append(_post(target, payload)), daemon=True
    )
    thread.start()
    thread.join(_SECONDS)
    late = WebhookAnswer(False, f"no answer within {_SECONDS:.0f} s")
    return next(iter(answers), late)


def _post(target: Target, payload: dict[str, Any]) -> WebhookAnswer:
    url, headers = _address(target)
    headers |= {
        "Content-Type": "application/json; charset=utf-8",
        "User-Agent": f"watercooler/{__version__}",
    }
    data = json.dumps(payload, ensure_ascii=False).encode(errors="replace")
    # The schemes were checked when the target was parsed.
    message = request.Request(url, data, headers, method="POST")  # noqa: S310
    try:
        with _opener().open(message, timeout=_SECONDS) as response:
            return _answer(target, response)
    except _FAILURES as error:
        reason = getattr(error, "reason", error)
        text = getattr(reason, "strerror", None) or str(reason) or type(error).__name__
        return WebhookAnswer(False, _without_url(text, target))


def _opener() -> request.OpenerDirector:
    """An opener for http and https that uses the environment's proxies and returns
    every answer unchanged."""
    opener = request.OpenerDirector()
    handlers = request.ProxyHandler, request.HTTPHandler, request.HTTPSHandler
    for handler in handlers:
        opener.add_handler(handler())
    return opener


def _address(target: Target) -> tuple[str, dict[str, str]]:
    """The URL to post to, and headers with its secret parts. ntfy takes JSON at the
    address of its server; the topic is in the JSON."""
    parts = parse.urlsplit(target.url)
    headers = {}
    if parts.username is not None or parts.password is not None:
        pair = (parse.unquote(text or "") for text in (parts.username, parts.password))
        token = base64.b64encode(":".join(pair).encode()).decode()
        headers["Authorization"] = f"Basic {token}"
    path = parts.path or "/"
    if target.kind == NTFY:
        path = f"{path.rpartition('/')[0]}/"
    address = (parts.scheme, parts.netloc.rpartition("@")[2], path, parts.query, "")
    return parse.urlunsplit(address), headers


def _answer(target: Target, response: HTTPResponse) -> WebhookAnswer:
    body = ""
    with contextlib.suppress(*_FAILURES):
        data = response.read1(_MAX_ANSWER)
        body = _without_url(data.decode(errors="replace"), target)
    ok = response.status in _SUCCESS
    status = f"HTTP {response.status} {_without_url(response.reason, target)}".strip()
    return WebhookAnswer(ok, status, body, _pause_ms(response.headers))


def _pause_ms(headers: Message) -> int:
    """How long the server asks to wait; 0 if it does not, or if it gives a date."""
    text = headers.get("Retry-After", "").strip()
    return min(whole_number(text, _DIGITS) or 0, _MAX_PAUSE_SECONDS) * 1000


def _without_url(text: str, target: Target) -> str:
    """A text on one line, with the target's URL reduced to its host."""
    for secret in _secrets(target):
        text = text.replace(secret, "…")
    return one_line(text, _WIDTH)


def _secrets(target: Target) -> list[str]:
    """The parts of a target's URL that a server may repeat, the longest first: also
    parts of the path and the query, and the credentials as they are sent."""
    parts = parse.urlsplit(target.url)
    path = parts.path.strip("/")
    credentials = [text for text in (parts.username, parts.password) if text]
    _, headers = _address(target)
    token = headers.get("Authorization", "").rpartition(" ")[2]
    whole = [target.url, path, parts.query, token, *credentials]
    whole += map(parse.unquote, credentials)
    pieces = [*path.split("/"), *parts.query.replace("=", "&").split("&")]
    secrets = {text for text in whole if len(text) >= _SHORTEST_SECRET}
    secrets |= {text for text in pieces if len(text) >= _SHORTEST_PART}
    return sorted(secrets, key=len, reverse=True)
