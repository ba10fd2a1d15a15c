"""Merges files that are not logs, by the types that their names suggest.

Nothing here uses git or the disk.
"""

from __future__ import annotations

import json

from wc_cli.ledger.branch.treepaths import STORE
from wc_cli.ledger.merge.threeway import (
    MAX_LINES,
    Keys,
    keep_both,
    keep_both_once,
    keep_theirs,
    merge_keys,
    merge_lines,
    split_lines,
    with_line_end,
)
from wc_core.base.lean import re
from wc_core.base.values import NamedTuple
from wc_core.ledger.summaries import kept

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

# Files of lines whose order does not matter.
_LINE_SETS = frozenset({".gitattributes", ".gitignore"})
_SUMMARIES = STORE.summaries("any").rpartition("/")[2]
_UNREADABLE = (ValueError, RecursionError)


class Merged(NamedTuple):
    """The content of a merged file; ``None`` for no file. ``outvoted``: it lacks
    something of ours."""

    data: bytes | None
    outvoted: bool = False


def merge_file(
    path: str, base: bytes | None, ours: bytes | None, theirs: bytes | None
) -> Merged:
    """Merge the versions of a file that wc does not render; ``None`` for no file.

    If one side changed the file, that version wins. If both did, it is merged by keys
    or by lines, as its name suggests; if that is impossible, theirs wins. A file that
    one side changed and the other deleted is kept.
    """
    if theirs in (ours, base):
        return Merged(ours)
    if ours is None or ours == base:
        return Merged(theirs)
    if theirs is None:
        return Merged(ours)
    return _merge_changed(path, base or b"", ours, theirs)


def _merge_changed(path: str, base: bytes, ours: bytes, theirs: bytes) -> Merged:
    name = path.rpartition("/")[2]
    if name.endswith(".json"):
        return _merge_parsed(_parse_json, _merge_json, base, ours, theirs)
    if name.endswith(".toml"):
        return _merge_parsed(_parse_toml, _merge_toml, base, ours, theirs)
    if name.endswith(".jsonl") or name in _LINE_SETS:
        return Merged(_merge_line_set(name, ours, theirs))
    if b"\0" in ours or b"\0" in theirs:
        return Merged(theirs, outvoted=True)
    three = [split_lines(data) for data in (base, ours, theirs)]
    if max(map(len, three)) > MAX_LINES:
        return Merged(theirs, outvoted=True)
    return Merged(b"".join(merge_lines(keep_both, *three)))


def _merge_line_set(name: str, ours: bytes, theirs: bytes) -> bytes:
    if name == _SUMMARIES:
        return kept.merge((ours, theirs))
    return b"".join(_union_of_lines(split_lines(theirs), split_lines(ours)))


def _union_of_lines(
    lines: Iterable[bytes], additional: Iterable[bytes]
) -> Iterator[bytes]:
    """The lines, followed by those of ``additional`` that they lack, with
    repetitions."""
    counts: dict[bytes, int] = {}
    for line in with_line_end(list(lines)):
        counts[line] = counts.get(line, 0) + 1
        yield line
    for line in with_line_end(list(additional)):
        counts[line] = counts.get(line, 0) - 1
        if counts[line] < 0:
            yield line


def _merge_parsed(
    parse: Callable[[bytes], dict[str, Any] | None],
    merge: Callable[[bytes, bytes, bytes, Keys], Merged | None],
    base: bytes,
    ours: bytes,
    theirs: bytes,
) -> Merged:
    """Merge files by keys. If only one can be parsed, it wins: an unreadable settings
    file would stop every writer."""
    our_keys, their_keys = parse(ours), parse(theirs)
    if their_keys is None and our_keys is not None:
        return Merged(ours)
    if our_keys is None or their_keys is None:
        return Merged(theirs, outvoted=True)
    keys = merge_keys(parse(base) or {}, our_keys, their_keys)
    return merge(base, ours, theirs, keys) or Merged(theirs, outvoted=True)


def _merge_json(_: bytes, ours: bytes, theirs: bytes, keys: Keys) -> Merged | None:
    """The file of a side that already has these keys in this order, otherwise a new one
    formatted like theirs."""
    for data in (theirs, ours):
        if repr(keys.values) == repr(_parse_json(data)):
            return Merged(data, keys.outvoted)
    try:
        return Merged(_write_json_like(theirs, keys.values), keys.outvoted)
    except _UNREADABLE:
        return None


def _parse_json(data: bytes) -> dict[str, Any] | None:
    """The object in a file; ``None`` for anything else, and for an object with a
    duplicate key, because rewriting it would lose a value."""
    try:
        value = json.loads(data.decode(), object_pairs_hook=_unique_keys)
    except _UNREADABLE:
        return None
    return value if isinstance(value, dict) else None


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) != len(pairs):
        raise ValueError("a key twice")
    return values


def _write_json_like(data: bytes, values: dict[str, Any]) -> bytes:
    """JSON, indented and escaped as in ``data``."""
    match = re.search(rb"\n([ \t]+)\S", data)
    indent = match[1].decode() if match else None
    text = json.dumps(values, indent=indent, ensure_ascii=data.isascii())
    return text.encode() + (b"\n" if data.endswith(b"\n") else b"")


def _merge_toml(base: bytes, ours: bytes, theirs: bytes, keys: Keys) -> Merged | None:
    """The files merged by lines, which keeps comments, if the result has these keys."""
    three = [split_lines(data) for data in (base, ours, theirs)]
    if max(map(len, three)) > MAX_LINES:
        return None
    for resolve in (keep_both_once, keep_theirs):
        data = b"".join(merge_lines(resolve, *three))
        if _parse_toml(data) == keys.values:
            return Merged(data, keys.outvoted or resolve is keep_theirs)
    return None


def _parse_toml(data: bytes) -> dict[str, Any] | None:
    import tomllib  # 4 ms, only where both sides changed the settings

    try:
        return tomllib.loads(data.decode())
    except _UNREADABLE:
        return None
