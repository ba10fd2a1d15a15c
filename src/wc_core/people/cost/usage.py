"""Counts tokens in the transcripts of clients, as they grow.

Claude Code writes several lines for one response of the model, each with the usage so
far: the greatest figures of a response count. Codex writes running totals, the same
ones several times: the differences count and, after a total that fell, the last
response. Lines of any other shape count nothing.
"""

from __future__ import annotations

from types import MappingProxyType

from wc_core.base.lean import json
from wc_core.base.values import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

# Responses that may still get lines, including those of parallel sub-agents.
_REMEMBERED = 50
# Words in the lines that count; others are not parsed.
_SIGNS = (b'"usage"', b'"token_count"')


class Usage(NamedTuple):
    """Tokens. ``input`` excludes those from or for the cache, ``output`` includes those
    of reasoning."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0

    @property
    def total(self) -> int:
        """All tokens."""
        return sum(self)

    def plus(self, usage: Usage) -> Usage:
        """Returns the sum."""
        return Usage(*(a + b for a, b in zip(self, usage, strict=True)))

    def beyond(self, usage: Usage) -> Usage:
        """Returns how much more than ``usage`` this has, of each kind."""
        return Usage(*(max(0, a - b) for a, b in zip(self, usage, strict=True)))


class Meter(NamedTuple):
    """The counts of a transcript so far: the latest responses by id, and the
    running total; ``None`` if it is unknown."""

    responses: Mapping[str, Usage] = MappingProxyType({})
    total: Usage | None = None


def count(data: bytes, meter: Meter) -> tuple[Usage, Meter]:
    """Returns the tokens that the next lines of a transcript add, and the meter
    after them."""
    added, responses, total = Usage(), dict(meter.responses), meter.total
    for fields in _records(data):
        if response := _response(fields):
            key, usage = response
            before = responses.pop(key, Usage())
            added = added.plus(usage.beyond(before))
            responses[key] = before.plus(usage.beyond(before))
        elif totals := _totals(fields):
            now, latest = totals
            fell = total is None or any(a < b for a, b in zip(now, total, strict=True))
            added = added.plus(latest if fell or total is None else now.beyond(total))
            total = now
    return added, Meter(dict(list(responses.items())[-_REMEMBERED:]), total)


def _records(data: bytes) -> Iterator[dict[str, Any]]:
    for line in data.split(b"\n"):
        if not any(sign in line for sign in _SIGNS):
            continue
        try:
            fields = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(fields, dict):
            yield fields


def _response(fields: dict[str, Any]) -> tuple[str, Usage] | None:
    """A response of the model in a transcript of Claude Code: its id and usage."""
    message = fields.get("message")
    if fields.get("type") != "assistant" or not isinstance(message, dict):
        return None
    key, usage = message.get("id"), message.get("usage")
    if not isinstance(key, str) or not key or not isinstance(usage, dict):
        return None
    names = ("input_tokens", "output_tokens")
    cache = ("cache_read_input_tokens", "cache_creation_input_tokens")
    return key, Usage(*(_number(usage, name) for name in (*names, *cache)))


def _totals(fields: dict[str, Any]) -> tuple[Usage, Usage] | None:
    """The running total of a session of Codex, and the usage of its last response."""
    payload = fields.get("payload")
    if fields.get("type") != "event_msg" or not isinstance(payload, dict):
        return None
    info = payload.get("info")
    if payload.get("type") != "token_count" or not isinstance(info, dict):
        return None
    now, latest = info.get("total_token_usage"), info.get("last_token_usage")
    if not isinstance(now, dict):
        return None
    return _codex(now), _codex(latest if isinstance(latest, dict) else {})


def _codex(usage: dict[str, Any]) -> Usage:
    """Codex also counts tokens from the cache as input."""
    cached = _number(usage, "cached_input_tokens")
    fresh = max(0, _number(usage, "input_tokens") - cached)
    return Usage(fresh, _number(usage, "output_tokens"), cached)


def _number(fields: dict[str, Any], name: str) -> int:
    value = fields.get(name)
    return value if type(value) is int and value > 0 else 0
