"""Decides which of a client's lines are answered before the real server is ready.

``declared.json`` has the server's name, capabilities and lists as FastMCP answers them.
``docs/make_reference.py`` generates the file from the declarations in `wc_observe.mcp`.
Tests compare both for each revision of the protocol, with the oldest, the locked and
the newest libraries that ``pyproject.toml`` allows.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from wc_core.base.values import NamedTuple
from wc_core.base.version import __version__
from wc_observe.front import requests

if TYPE_CHECKING:
    from wc_observe.front.requests import ClientMessage

# The id with which the real server gets the first request again. Its answer must not
# reach the client, which already has one.
REPEATED_ID = "watercooler: the first request, repeated"
Fields = dict[str, Any]

INITIALIZE, DISCOVER, PING = "initialize", "server/discover", "ping"
TOOLS = "tools/list"
# The list of resources depends on the store.
LISTS = (TOOLS, "prompts/list", "resources/templates/list")

_INFO = "io.modelcontextprotocol/serverInfo"


class FirstAnswers:
    """Answers requests whose answer is the same in every store.

    The first message decides. If it is a request in the usual form, later requests are
    answered, too, whatever waits for the real server. ``is_over`` becomes true if the
    first message is something else, at a second handshake, and at a line that is
    neither a request nor a notification: the real server gets everything from there on.
    """

    def __init__(
        self,
        declared: Declarations,
        *,
        all_stores: bool = False,
    ) -> None:
        self._declared = declared
        self._all_stores = all_stores
        self._opening: ClientMessage | None = None
        self.is_over = False

    def answer(self, message: ClientMessage | None) -> bytes | None:
        """Returns the answer to a message, as a line. ``None`` if the real server must
        get the message."""
        if message is not None and message.id is not None:
            result = self._result(message)
            if result is not None:
                return _line({"id": message.id, "result": result})
        if message is None or self._opening is None:
            self.is_over = True
        return None

    def opening_line(self) -> bytes:
        """Returns the first request for the real server, so that it knows the client;
        nothing if it was not answered."""
        opening = self._opening
        if opening is None:
            return b""
        fields = {"method": opening.method, "params": opening.params}
        return _line({"id": REPEATED_ID} | fields)

    def _result(self, request: ClientMessage) -> Fields | None:
        if self.is_over:
            return None
        if request.method == INITIALIZE:
            return self._hello(request)
        if self._opening is None or self._opening.method != INITIALIZE:
            return self._stateless_result(request)
        if not requests.has_no_parameters(request):
            return None
        if request.method == PING:
            return {}
        return self._listing(request.method)

    def _hello(self, request: ClientMessage) -> Fields | None:
        hello = requests.hello_of(request)
        if self._opening is not None or hello is None:
            self.is_over = True
            return None
        self._opening = request
        return self._declared.hello(hello.version)

    def _stateless_result(self, request: ClientMessage) -> Fields | None:
        envelope = requests.envelope_of(request)
        if envelope is None or envelope.version not in self._declared.stateless:
            return None
        if request.method == DISCOVER:
            result: Fields | None = self._declared.results[DISCOVER]
        else:
            result = self._listing(request.method)
        if result is None:
            return None
        if self._opening is None:
            self._opening = request
        return self._declared.enveloped(result)

    def _listing(self, method: str) -> Fields | None:
        if method not in LISTS:
            return None
        return self._declared.listing(method, all_stores=self._all_stores)


def _line(members: dict[str, Any]) -> bytes:
    text = json.dumps(
        {"jsonrpc": "2.0"} | members, ensure_ascii=False, separators=(",", ":")
    )
    return f"{text}\n".encode()


class Declarations(NamedTuple):
    """The content of ``declared.json``.

    ``handshakes`` are the revisions that begin with ``initialize``, oldest first, and
    ``stateless`` those without. ``results`` are the results by method, and ``envelope``
    is what the stateless protocol adds to each. A server for all stores also lists
    ``optional_tools``.
    """

    handshakes: list[str]
    stateless: list[str]
    optional_tools: list[str]
    envelope: Fields
    results: dict[str, Fields]

    def hello(self, requested: str) -> Fields:
        """Returns the result of ``initialize``: the revision that the client requested,
        otherwise the latest."""
        is_known = requested in self.handshakes
        version = requested if is_known else self.handshakes[-1]
        result = self.results[INITIALIZE]
        info = result["serverInfo"] | {"version": __version__}
        return result | {"protocolVersion": version, "serverInfo": info}

    def listing(self, method: str, *, all_stores: bool) -> Fields:
        """Returns the result of a request without parameters."""
        result = self.results[method]
        if method != TOOLS or all_stores:
            return result
        hidden = self.optional_tools
        tools = [tool for tool in result["tools"] if tool["name"] not in hidden]
        return result | {"tools": tools}

    def enveloped(self, result: Fields) -> Fields:
        """Returns a result in the form of the stateless protocol."""
        info = self.envelope["_meta"][_INFO] | {"version": __version__}
        return result | self.envelope | {"_meta": {_INFO: info}}


def read_declared() -> Declarations:
    """Returns the content of the file."""
    path = os.path.join(os.path.dirname(__file__), "declared.json")
    with open(path, encoding="utf-8") as file:
        fields = json.load(file)
    return Declarations(*(fields[name] for name in Declarations._fields))
