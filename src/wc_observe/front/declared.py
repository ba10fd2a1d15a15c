"""The server's declarations: its name, its capabilities, its lists.

``declared.json`` has them as FastMCP answers them. ``docs/make_reference.py`` generates
the file from the declarations in `wc_observe.mcp`. Tests compare both for each revision
of the protocol, with the oldest, the locked and the newest libraries that
``pyproject.toml`` allows.
"""

from __future__ import annotations

import json
import os
from typing import Any

from wc_core.base.values import NamedTuple
from wc_core.base.version import __version__

Fields = dict[str, Any]

INITIALIZE, DISCOVER, PING = "initialize", "server/discover", "ping"
TOOLS = "tools/list"
# The list of resources depends on the store.
LISTS = (TOOLS, "prompts/list", "resources/templates/list")

_INFO = "io.modelcontextprotocol/serverInfo"


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
