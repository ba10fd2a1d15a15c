"""Logs with lines that are too long: such a line is never in memory, and never lost."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.strategies import entry
from wc_core.base.files import Folder
from wc_core.ledger.threads import codec, longlines
from wc_core.ledger.threads.longlines import (
    LogText,
    expanded,
    expanded_size,
    has_long,
    of_bytes,
    read,
)
from wc_core.ledger.threads.reader import StoreReader

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_LIMIT = 8
GOOD = codec.to_line(entry(1), 0)
_LINES = st.lists(st.binary(max_size=20), max_size=8).map(b"\n".join)


def cut(data: bytes, size: int) -> LogText:
    """The log with these bytes, read in pieces of that size."""

    def pieces() -> Iterator[bytes]:
        yield from (data[i : i + size] for i in range(0, len(data), size))

    return read(pieces, _LIMIT)


@given(_LINES, st.integers(1, 30))
def test_every_byte_comes_back(data: bytes, size: int) -> None:
    """However it is cut, the long lines are the same, and all others are in place."""
    text = cut(data, size)
    assert text.size == len(data) == expanded_size(text.data)
    assert b"".join(expanded(text.data, [text])) == data
    assert text.complete == data.rfind(b"\n") + 1
    assert text.data == of_bytes(data, _LIMIT).data
    lines, kept = data.split(b"\n"), text.data.split(b"\n")
    assert len(lines) == len(kept)
    for line, short in zip(lines, kept, strict=True):
        assert has_long(short) == (len(line) > _LIMIT)
        assert short == line or has_long(short)


@given(_LINES, _LINES)
def test_a_long_line_has_the_same_stand_in_everywhere(one: bytes, two: bytes) -> None:
    first, second = (cut(data, 5) for data in (one, two))
    same = {*one.split(b"\n")} & {*two.split(b"\n")}
    both = {*first.data.split(b"\n")} & {*second.data.split(b"\n")}
    assert len(same) == len(both)
    joined = first.data + b"\n" + second.data
    assert b"".join(expanded(joined, [first, second])) == one + b"\n" + two


def test_a_line_that_is_gone_or_changed_is_never_replaced_with_another() -> None:
    content = [b"a" * 20, b"b"]
    text = read(lambda: iter(content), _LIMIT)
    with pytest.raises(ValueError, match="is missing"):
        list(expanded(text.data, []))
    content[0] = b"c" * 20
    with pytest.raises(ValueError, match="has changed"):
        list(expanded(text.data, [text]))


def test_nobody_can_push_a_stand_in() -> None:
    """It has a number that another process does not know."""
    text = cut(b"a" * 20, 5)
    (stand_in,) = text.long
    assert stand_in != b"\0long-line:" + stand_in.rpartition(b":")[2]
    forged = stand_in.replace(longlines._MARK, b"\0long-line:0123456789abcdef:")
    assert not has_long(forged)
    assert codec.read_line("t", forged)[0] == "garbage"


def test_a_reader_skips_it_and_names_it(tmp_path: Path) -> None:
    long_line = b'{"entry_id":"x","body":"' + b"x" * longlines.MAX_LINE_BYTES + b'"}'
    reader = StoreReader(str(tmp_path))
    path = tmp_path / "graph/baseline/threads/t/entries.jsonl"
    path.parent.mkdir(parents=True)
    path.write_bytes(GOOD + long_line + b"\n" + codec.to_line(entry(2), 1) + b"torn")
    thread = reader.thread("t")
    assert [item.id for item in thread.entries] == [entry(1).id, entry(2).id]
    (long_damage, torn) = thread.damage
    message = f"a line of {len(long_line)} bytes is longer than any entry"
    assert (long_damage.line, long_damage.kind) == (2, "long")
    assert long_damage.message == message
    assert torn.line == 4
    assert thread.log.size == path.stat().st_size
    assert thread.log.complete == thread.log.size - len(b"torn")
    assert len(thread.data) < 10_000


def test_the_last_line_is_looked_for_within_limits(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"a\n" + b"b" * 100_000 + b"\n")
    with Folder(str(tmp_path)) as folder:
        assert folder.last_line("file", 100_003, 50_000) == b""
        assert folder.last_line("file", 100_003, 100_000) == b"b" * 100_000 + b"\n"
