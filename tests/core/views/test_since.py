"""The entries since some entry: the same with the seal of a log and without."""

from __future__ import annotations

import os
from contextlib import suppress
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.strategies import (
    AGENTS,
    agents,
    chain,
    entry,
    entry_id,
    forked_logs,
    linear_logs,
    relaxed,
    statuses,
)
from tests.core.views.sealedlogs import damages, put
from wc_core.base import files
from wc_core.ledger.threads import codec
from wc_core.ledger.threads.excerpts.sealing import seal_of
from wc_core.ledger.threads.model import Ball, Base
from wc_core.ledger.threads.reader import StoreReader
from wc_core.reading.views.updates import entries_since, whole_entries_since

if TYPE_CHECKING:
    from pathlib import Path

    from wc_core.ledger.threads.model import Entry

bases = st.builds(Base, status=statuses, ball=st.none() | agents)


def with_base(entries: list[Entry], base: Base | None, at: int) -> list[Entry]:
    """The log of a thread that wc took over at a position."""
    if base is None or at >= len(entries):
        return entries
    return [*entries[:at], entries[at]._replace(base=base), *entries[at + 1 :]]


@relaxed
@given(
    linear_logs() | linear_logs(recorded=False) | forked_logs(),
    st.tuples(st.none() | bases, st.integers(0, 11)),
    st.tuples(damages, st.integers(0, 11)),
    st.lists(st.integers(-1, 14), min_size=1, max_size=4),
    st.sampled_from(("", "", "main")),
    st.sampled_from((7, 300, 1 << 16)),
)
def test_a_sealed_log_has_the_same_news_as_the_whole_thread(
    entries: list[Entry],
    taken_over: tuple[Base | None, int],
    damage: tuple[str, int],
    floors: list[int],
    branch: str,
    piece_bytes: int,
) -> None:
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(files, "_PIECE", piece_bytes)
        reader = StoreReader(folder)
        os.makedirs(reader.layout.folder("t"))
        put(reader.layout, with_base(entries, *taken_over), *damage)
        for floor in (entry_id(step) if step >= 0 else "" for step in floors):
            whole = None
            with suppress(Exception):
                whole = whole_entries_since(reader.thread("t"), floor, branch)
            if whole is None:
                with pytest.raises(Exception, match=r"."):
                    entries_since(reader, "t", floor, branch)
            else:
                assert entries_since(reader, "t", floor, branch) == whole


@pytest.fixture
def reader(tmp_path: Path) -> StoreReader:
    reader = StoreReader(os.fspath(tmp_path))
    os.makedirs(reader.layout.folder("t"))
    return reader


def long_thread(**last: Any) -> list[Entry]:
    """A thread of 2,000 entries, whose status is only set by the first."""
    texts = [entry(step, AGENTS[step % 2]) for step in range(2000)]
    texts[0] = texts[0]._replace(status="OPEN", ball=Ball("Pat"))
    texts[500] = texts[500]._replace(ball=Ball("Sam"))
    texts[-1] = texts[-1]._replace(**last)
    return chain(*texts)


def test_few_entries_are_decoded(reader: StoreReader, decoded: list[bytes]) -> None:
    put(reader.layout, long_thread())
    decoded.clear()
    new = entries_since(reader, "t", entry_id(1994))
    assert [item.idx for item in new] == [1995, 1996, 1997, 1998, 1999]
    assert len(decoded) < 25


def test_a_correction_brings_the_entry_that_it_corrects(reader: StoreReader) -> None:
    put(reader.layout, long_thread(action="amend", supersedes=entry_id(1)))
    [item] = entries_since(reader, "t", entry_id(1998))
    assert (item.idx, item.mark) == (1, "amended")


def test_a_log_with_other_ids_has_no_seal(reader: StoreReader) -> None:
    """They would not be in the order of the entries."""
    entries = chain(entry(0), entry(1)._replace(id="zebra"), entry(2))
    put(reader.layout, entries)
    assert reader.meta("t").seal is None
    data = b"".join(codec.to_line(item, 0) for item in entries)
    assert seal_of(codec.read_log("t", data), data) is None
