"""JSON in the files of a store: one compact line, in UTF-8."""

from __future__ import annotations

from itertools import chain

from wc_core.base.lean import json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

# Far more than anyone nests on purpose, far less than Python's recursion limit.
_MAX_DEPTH = 100


def dumps(value: Any) -> str:
    """Encode a value as one compact line of JSON.

    It escapes only what JSON requires, and characters that other tools treat as the end
    of a line or that act on a terminal.
    """
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return (
        text.replace("\u2028", "\\u2028")
        .replace("\u2029", "\\u2029")
        .replace("\x85", "\\u0085")
        .replace("\x7f", "\\u007f")
    )


def loads(data: bytes) -> Any:
    """Decode JSON in UTF-8.

    A lone surrogate, which JSON can escape but UTF-8 cannot encode, becomes
    ``?``. Raises UnicodeDecodeError for bytes that are not UTF-8, another
    ValueError for text that is not JSON, and RecursionError for JSON that is
    nested too deep.
    """
    value = json.loads(data.decode().removeprefix("\ufeff"))
    brackets = data.count(b"[") + data.count(b"{")
    if brackets > _MAX_DEPTH and _depth_exceeds(value, _MAX_DEPTH):
        raise RecursionError
    # Looking for one byte first is faster.
    if b"\\" in data and (b"\\ud" in data or b"\\uD" in data):
        text = json.dumps(value, ensure_ascii=False).encode(errors="replace")
        value = json.loads(text)
    return value


def _depth_exceeds(value: Any, limit: int) -> bool:
    """Whether objects and lists are nested deeper than ``limit`` levels."""
    level: list[Any] = [value]
    for _ in range(limit + 1):
        level = list(chain.from_iterable(map(_members, level)))
    return bool(level)


def _members(value: Any) -> Iterable[Any]:
    """The values in an object or a list; none in any other value."""
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()
