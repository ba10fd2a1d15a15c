"""Sends requests to a model server with OpenAI's API: llama.cpp, Ollama, vLLM, LiteLLM,
….

Only http and https, and no redirects: they could lead anywhere. Proxies of the
environment are used, except for a server on this machine. A request that fails is
repeated for a while: models are loading, servers are busy or limit their request rate.
No error contains the key.
"""

from __future__ import annotations

import contextlib
import email.utils
import json
import threading
import time
from http.client import HTTPException
from urllib import parse, request

from wc_core.base.errors import OfflineError
from wc_core.base.text import one_line, whole_number
from wc_core.base.values import NamedTuple
from wc_core.base.version import __version__

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from email.message import Message
    from http.client import HTTPResponse
    from typing import Any

# The variable with the key of a server, which is in no file of settings.
KEY_VARIABLE = "WATERCOOLER_MODEL_KEY"
COMPLETIONS, EMBEDDINGS = "chat/completions", "embeddings"
_LOCAL_HOSTS = frozenset({"localhost", "127.0.0.1", "::1"})
# The error of a server that does not run, but may be starting.
_ATTEMPTS_TO_REACH = 3
_FAILURES = (OSError, ValueError, HTTPException)
# Statuses that may pass if the request is repeated later.
_PASSING = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
_UNKNOWN = 404
_SUCCESS = range(200, 300)
_REDIRECTS = range(300, 400)
_NEEDS_KEY = frozenset({401, 403})
_MAX_ANSWER = 64 * 1024 * 1024
_MAX_ERROR = 4096
_WIDTH = 200
_DIGITS = 6
_KEPT = "What was done is kept; later, run the same command again."


# Statuses about this request only: it is too long, for example.
_OF_REQUEST = frozenset({400, 413, 422})


class EndpointError(OfflineError):
    """A model server did not answer as it should. The message names the server.
    ``concerns_request`` says that it may answer other requests."""

    concerns_request = False


class Endpoint(NamedTuple):
    """A model server: the address that its API is below, and the model to ask for.

    ``variable`` is the variable of the environment whose value is the ``key``.
    """

    base: str
    model: str
    key: str = ""
    variable: str = ""

    def url(self, path: str) -> str:
        """Returns the address of a part of the API. If the base has no path, it is
        below ``/v1``, as in OpenAI's own."""
        base = self.base.rstrip("/")
        if not parse.urlsplit(base).path:
            base += "/v1"
        return f"{base}/{path}"

    @property
    def host(self) -> str:
        """The server in messages: its host with the port."""
        return one_line(parse.urlsplit(self.base).netloc, _WIDTH)

    @property
    def is_local(self) -> bool:
        """Whether the server is on this machine."""
        with contextlib.suppress(ValueError):
            return (parse.urlsplit(self.base).hostname or "") in _LOCAL_HOSTS
        return False

    @property
    def is_readable_on_the_way(self) -> bool:
        """Whether others on the network could read the requests."""
        return not self.is_local and not self.base.casefold().startswith("https:")


class Patience(NamedTuple):
    """How long to wait: seconds for an answer, how many attempts, the seconds before
    the second one (doubled each time after), and the longest acceptable wait."""

    answer_seconds: float = 120.0
    attempts: int = 6
    pause_seconds: float = 1.0
    most_seconds: float = 60.0


USUAL = Patience()


class _Answer(NamedTuple):
    """The result of a request: the fields of an answer, or the problem, and whether it
    may pass. ``wait_seconds`` is how long the server asks to wait, -1 if it does not.
    ``is_reached`` if there is a server."""

    fields: Any = None
    problem: str = ""
    passes: bool = False
    wait_seconds: float = -1.0
    hint: str = ""
    concerns_request: bool = False
    is_reached: bool = True


def ask(
    endpoint: Endpoint,
    path: str,
    fields: dict[str, Any],
    patience: Patience = USUAL,
    sleep: Callable[[float], None] = time.sleep,
) -> dict[str, Any]:
    """Returns the server's object in answer to ``fields`` at a part of its API; the
    model is added to them. A problem that may pass is waited for.

    Raises EndpointError.
    """
    endpoint = endpoint._replace(key=_checked_key(endpoint))
    data = json.dumps({"model": endpoint.model, **fields}).encode()
    pause = patience.pause_seconds
    for attempt in range(1, patience.attempts + 1):
        answer = _ask_once(endpoint, path, data, patience.answer_seconds)
        if not answer.problem:
            return dict(answer.fields)
        wait = pause if answer.wait_seconds < 0 else answer.wait_seconds
        attempts = patience.attempts
        if not answer.is_reached:
            attempts = min(attempts, _ATTEMPTS_TO_REACH)
        if attempt >= attempts or not answer.passes:
            break
        if wait > patience.most_seconds:
            raise _error(endpoint, answer, f", and asks to wait {wait:.0f} s")
        sleep(wait)
        pause = min(pause * 2, patience.most_seconds)
    raise _error(endpoint, answer, f" ({attempt} times)" if attempt > 1 else "")


def _checked_key(endpoint: Endpoint) -> str:
    """Returns the key without blanks around it, such as the end of a line. Raises
    EndpointError if no header can have it: the library's own error would show it."""
    key = endpoint.key.strip()
    if key.isascii() and key.isprintable():
        return key
    raise EndpointError(
        f"{endpoint.variable or 'The key'} cannot be the key of a server: it has a "
        "line break, or characters that are not ASCII.",
        "Set it again, to the key alone.",
    )


def _error(endpoint: Endpoint, answer: _Answer, ending: str) -> EndpointError:
    problem = answer.problem
    if endpoint.key:
        problem = problem.replace(endpoint.key, "…")
    message = f"The model server {endpoint.host}: {one_line(problem, _WIDTH)}{ending}."
    error = EndpointError(message, answer.hint or _KEPT)
    error.concerns_request = answer.concerns_request
    return error


def unusable(endpoint: Endpoint, problem: str) -> EndpointError:
    """Returns the error for an incomplete answer."""
    return _error(endpoint, _Answer(problem=problem, concerns_request=True), "")


def _ask_once(endpoint: Endpoint, path: str, data: bytes, seconds: float) -> _Answer:
    """Returns the answer to one request, or the problem, within this many seconds."""
    answers: list[_Answer] = []
    # Timeouts of sockets end neither a server that sends a byte now and then, nor the
    # lookup of a host's address. A thread that is left behind ends with the process.
    thread = threading.Thread(
        # Later than the join below, so that one message says it.
        target=lambda: answers.append(_exchange(endpoint, path, data, seconds + 1)),
        daemon=True,
    )
    thread.start()
    thread.join(seconds)
    late = _Answer(problem=f"no answer within {seconds:g} s", passes=True)
    return next(iter(answers), late)


def _exchange(endpoint: Endpoint, path: str, data: bytes, seconds: float) -> _Answer:
    headers = {
        "Content-Type": "application/json",
        "Accept": "application/json",
        "User-Agent": f"watercooler/{__version__}",
    }
    if endpoint.key:
        headers["Authorization"] = f"Bearer {endpoint.key}"
    try:
        # A setting allows only these schemes: http and https.
        message = request.Request(  # noqa: S310
            endpoint.url(path), data, headers, method="POST"
        )
        with _opener(endpoint).open(message, timeout=seconds) as response:
            if response.status not in _SUCCESS:
                return _refusal(endpoint, response)
            return _answer(response)
    except _FAILURES as error:
        reason = getattr(error, "reason", error)
        text = getattr(reason, "strerror", None) or str(reason) or type(error).__name__
        is_reached = not isinstance(reason, ConnectionRefusedError)
        return _Answer(problem=text, passes=True, is_reached=is_reached)


def _opener(endpoint: Endpoint) -> request.OpenerDirector:
    """An opener that knows http and https, and returns every answer unchanged."""
    opener = request.OpenerDirector()
    proxies = request.ProxyHandler({} if endpoint.is_local else None)
    for handler in (proxies, request.HTTPHandler(), request.HTTPSHandler()):
        opener.add_handler(handler)
    return opener


def _answer(response: HTTPResponse) -> _Answer:
    """Returns the object in an answer. Text that is not JSON may be cut off: that may
    pass."""
    data = response.read(_MAX_ANSWER + 1)
    if len(data) > _MAX_ANSWER:
        return _Answer(problem="an answer of more than 64 MB")
    try:
        fields = json.loads(data)
    except (ValueError, RecursionError):
        if data.lstrip().startswith(b"<"):
            hint = "Check the address: it is one of web pages."
            return _Answer(problem="a web page, not JSON", hint=hint)
        return _Answer(problem="an answer that is not JSON", passes=True)
    if not isinstance(fields, dict):
        return _Answer(problem="an answer that is not a JSON object")
    return _Answer(fields)


def _refusal(endpoint: Endpoint, response: HTTPResponse) -> _Answer:
    """Returns why a server refused a request, in its own words."""
    body = ""
    with contextlib.suppress(*_FAILURES):
        body = _error_words(response.read(_MAX_ERROR))
    problem = f"HTTP {response.status} {body or response.reason or ''}".rstrip()
    passes = response.status in _PASSING
    hint = "" if passes else _hint(endpoint, response.status)
    wait = _wait_seconds(response.headers)
    return _Answer(None, problem, passes, wait, hint, response.status in _OF_REQUEST)


def _hint(endpoint: Endpoint, status: int) -> str:
    if status in _NEEDS_KEY and endpoint.variable:
        verb = "Check" if endpoint.key else "Set"
        return f"{verb} the key of the server: {endpoint.variable}"
    if status in _REDIRECTS:
        return "Redirects are not followed: set the address that it leads to."
    if status == _UNKNOWN:
        return f"Check the address, and that it has the model {endpoint.model!r}."
    return _KEPT


def _error_words(data: bytes) -> str:
    """Returns the message in the body of a refusal: ``error.message`` in most,
    ``error``, ``detail`` or ``message`` in others, otherwise the text. It is not cut:
    part of a key would not be recognised as one."""
    text = data.decode(errors="replace")
    try:
        fields = json.loads(text)
    except (ValueError, RecursionError):
        return "" if text.lstrip().startswith("<") else one_line(text)
    value = fields
    for name in ("error", "message", "detail"):
        if isinstance(value, dict) and value.get(name):
            value = value[name]
    return one_line(value if isinstance(value, str) else text)


def _wait_seconds(headers: Message) -> float:
    """Returns how long the server asks to wait, -1 if it does not: ``Retry-After`` is a
    number of seconds or a date."""
    text = headers.get("Retry-After", "").strip()
    seconds = whole_number(text, _DIGITS)
    if seconds is not None:
        return float(seconds)
    with contextlib.suppress(ValueError, TypeError, OverflowError):
        moment = email.utils.parsedate_to_datetime(text).timestamp()
        return max(0.0, moment - time.time())
    return -1.0
