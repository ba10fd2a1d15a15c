"""Reads requests in the usual form, and no others.

The SDK accepts more than this, and refuses some of the rest with its own messages. Both
are left to it: in doubt, these functions return ``None`` or false.
"""

from __future__ import annotations

import json
from typing import Any, NoReturn

from wc_core.base.values import NamedTuple

Fields = dict[str, Any]

_MEMBERS = frozenset({"jsonrpc", "id", "method", "params"})
_INFO = frozenset({"name", "version", "title", "description", "websiteUrl"})
# Integers beyond these differ between JSON libraries.
_MAX_NUMBER = 2**53
_PREFIX = "io.modelcontextprotocol/"
_ENVELOPE = frozenset(
    {f"{_PREFIX}{name}" for name in ("protocolVersion", "clientInfo")}
    | {f"{_PREFIX}clientCapabilities"}
)
# What a client of the stateless protocol may add: the notifications it wants while its
# request is answered. Lists send none.
_LOG_LEVEL = f"{_PREFIX}logLevel"
_LEVELS = frozenset(
    {"debug", "info", "notice", "warning"} | {"error", "critical", "alert", "emergency"}
)
# Members of the client's capabilities with content defined by the client.
_OPEN_CAPABILITIES = frozenset({"experimental", "extensions"})
_FLAGS = frozenset({"listChanged", "applyDefaults"})


class ClientMessage(NamedTuple):
    """A client's request; without an id, a notification."""

    method: str
    params: Fields
    id: int | str | None


class Envelope(NamedTuple):
    """What a client of the stateless protocol sends with each request."""

    version: str
    client_title: str


def parse_message(line: bytes) -> ClientMessage | None:
    """Returns the request or notification in a line."""
    text = line.removesuffix(b"\n").removesuffix(b"\r")
    if b"\r" in text:
        return None  # the SDK begins a new line there
    try:
        fields = json.loads(text.decode(), parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        return None
    return _as_message(fields) if isinstance(fields, dict) else None


def _as_message(fields: Fields) -> ClientMessage | None:
    if fields.get("jsonrpc") != "2.0" or not fields.keys() <= _MEMBERS:
        return None
    method, params = fields.get("method"), fields.get("params", {})
    if not isinstance(method, str) or not isinstance(params, dict):
        return None
    if "id" in fields and not is_identifier(fields["id"]):
        return None
    return ClientMessage(method, params, fields.get("id"))


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(name)


def is_identifier(value: object) -> bool:
    """Returns whether a value can be the id of a request, or a progress token."""
    if type(value) is int:
        return abs(value) < _MAX_NUMBER
    return isinstance(value, str)


def hello_of(request: ClientMessage) -> Envelope | None:
    """Returns the client's description of itself in the parameters of
    ``initialize``."""
    params = request.params
    members = {"protocolVersion", "capabilities", "clientInfo"}
    if not members <= params.keys() <= members | {"_meta"}:
        return None
    if not _is_plain_meta(params.get("_meta", {})):
        return None
    return _client(
        params["protocolVersion"], params["clientInfo"], params["capabilities"]
    )


def envelope_of(request: ClientMessage) -> Envelope | None:
    """Returns the description of a client of the stateless protocol if its request has
    only these ``parameters``."""
    meta = request.params.get("_meta")
    if request.params.keys() != {"_meta"} or not isinstance(meta, dict):
        return None
    known = _ENVELOPE | {_LOG_LEVEL}
    extra = {name: value for name, value in meta.items() if name not in known}
    level = meta.get(_LOG_LEVEL, "debug")
    if not isinstance(level, str) or level not in _LEVELS:
        return None
    if not meta.keys() >= _ENVELOPE or not _is_plain_meta(extra):
        return None
    return _client(
        meta[f"{_PREFIX}protocolVersion"],
        meta[f"{_PREFIX}clientInfo"],
        meta[f"{_PREFIX}clientCapabilities"],
    )


def has_no_parameters(request: ClientMessage) -> bool:
    """Returns whether a request of a client with a handshake contains nothing but its
    method."""
    return request.params.keys() <= {"_meta"} and _is_plain_meta(
        request.params.get("_meta", {})
    )


def _client(version: object, info: object, capabilities: object) -> Envelope | None:
    if not isinstance(version, str) or not _are_capabilities(capabilities):
        return None
    if not isinstance(info, dict) or not {"name", "version"} <= info.keys() <= _INFO:
        return None
    if not all(isinstance(value, str) for value in info.values()):
        return None
    return Envelope(version, info["name"])


def _is_plain_meta(meta: object) -> bool:
    if not isinstance(meta, dict) or not meta.keys() <= {"progressToken"}:
        return False
    return all(map(is_identifier, meta.values()))


def _are_capabilities(value: object) -> bool:
    if not isinstance(value, dict):
        return False
    return all(
        isinstance(part, dict)
        and all(isinstance(inner, dict) for inner in part.values())
        if name in _OPEN_CAPABILITIES
        else isinstance(part, dict) and _is_nested(part)
        for name, part in value.items()
    )


def _is_nested(value: object) -> bool:
    """Returns whether an object contains only such objects and known flags."""
    if not isinstance(value, dict):
        return False
    return all(
        type(part) is bool if name in _FLAGS else _is_nested(part)
        for name, part in value.items()
    )
