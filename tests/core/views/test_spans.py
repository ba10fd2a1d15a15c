"""Some entries of a thread: the same by the cache, and from the whole thread."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.strategies import (
    AGENTS,
    chain,
    entry,
    entry_id,
    forked_logs,
    linear_logs,
    relaxed,
    viewer,
)
from tests.core.views.damagedlogs import damages, put
from wc_cli.ledger.index import cachefile
from wc_core.base.lean import json
from wc_core.ledger.index import parts
from wc_core.ledger.threads import codec, folding
from wc_core.ledger.threads.reader import StoreReader
from wc_core.reading.views.entries import thread_head
from wc_core.reading.views.spans import (
    SpanQuery,
    ThreadSpan,
    thread_span,
    whole_span,
)

if TYPE_CHECKING:
    from wc_core.ledger.threads.model import Entry

queries = st.builds(
    SpanQuery,
    st.integers(-14, 14),
    st.integers(0, 6),
    st.booleans(),
    st.booleans(),
    st.sampled_from(("", "", "", "main")),
    st.sampled_from(("", "", "", "question")),
)
# Without anything that the cache leaves to the logs.
plain_logs = st.lists(st.sampled_from(AGENTS), max_size=12).map(
    lambda names: chain(*(entry(step, name) for step, name in enumerate(names)))
)


@pytest.fixture
def reader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> StoreReader:
    """An empty store in which every thread is long enough for the cache."""
    monkeypatch.setattr(parts, "_SHORT", 0)
    reader = StoreReader(os.fspath(tmp_path))
    os.makedirs(reader.layout.folder("t"))
    return reader


def keep(reader: StoreReader) -> None:
    """Bring the cache up to date, as if nothing had been written just now."""
    cachefile.refresh(reader.layout.root, lambda: time.time_ns() + 10**10)


def facts(span: ThreadSpan) -> tuple[object, ...]:
    thread = span.thread
    head = thread_head(thread, "store")
    return head, thread.snapshot.tags, span.entries, span.left_out_count, span.following


@relaxed
@given(
    plain_logs | linear_logs() | linear_logs(recorded=False) | forked_logs(),
    st.tuples(damages, st.integers(0, 11)),
    st.lists(queries, min_size=1, max_size=4),
    st.integers(0, 12),
    st.sampled_from((*AGENTS, "Nobody")),
    # How many entries the cache has had, and whether it has all of them.
    st.tuples(st.integers(0, 12), st.booleans()),
)
def test_the_cache_gives_the_same_entries_as_the_whole_thread(
    entries: list[Entry],
    damage: tuple[str, int],
    asked: list[SpanQuery],
    read: int,
    name: str,
    cached: tuple[int, bool],
) -> None:
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(parts, "_SHORT", 0)
        reader, someone = StoreReader(folder), viewer(name)
        layout = reader.layout
        os.makedirs(layout.folder("t"))
        old_count, is_current = cached
        # What another program changed in lines that the cache never had, with the same
        # number of bytes, shows nowhere.
        if old_count and damage[0] != "changed":
            put(layout, entries[:old_count])
            keep(reader)
        put(layout, entries, *damage)
        if is_current:
            keep(reader)
        if read:
            # Up to there it was read when the thread was that long.
            state = folding.fold("t", entries[:read])
            cursor = {"key": someone.key, "heads": state.heads}
            path = reader.cursor_path("t", someone.key)
            os.makedirs(os.path.dirname(path))
            text = json.dumps(cursor | {"count": state.entry_count})
            Path(path).write_text(text, encoding="utf-8")
        for query in asked:
            whole = None
            with suppress(Exception):
                whole = whole_span(reader, reader.thread("t"), query, someone)
            if whole is None:
                with pytest.raises(Exception, match=r"."):
                    thread_span(reader, "t", query, someone)
            else:
                assert facts(thread_span(reader, "t", query, someone)) == facts(whole)


def test_only_what_is_asked_for_is_decoded(
    reader: StoreReader, decoded: list[bytes]
) -> None:
    put(reader.layout, chain(*(entry(step, AGENTS[step % 2]) for step in range(50))))
    keep(reader)
    for query, positions, count in (
        (SpanQuery(-5), [45, 46, 47, 48, 49], 5),
        (SpanQuery(limit=3), [0, 1, 2], 3),
        (SpanQuery(20, limit=2, kind="question"), [], 30),
        (SpanQuery(new=True), [49], 2),  # what is before it, too
        (SpanQuery(50), [], 0),
    ):
        decoded.clear()
        span = thread_span(reader, "t", query, viewer())
        assert [item.idx for item in span.entries] == positions
        assert len(decoded) == count


@pytest.mark.parametrize("change", ["appended", "edited", "corrected", "merged"])
def test_what_the_cache_does_not_have_as_it_is_is_read_whole(
    reader: StoreReader, decoded: list[bytes], change: str
) -> None:
    entries = chain(*(entry(step, AGENTS[0]) for step in range(9)))
    put(reader.layout, entries)
    keep(reader)
    log = Path(reader.layout.log("t"))
    data = log.read_bytes()
    if change == "appended":
        log.write_bytes(data + codec.to_line(entry(9), 9))
    elif change == "edited":
        log.write_bytes(data.replace(b"title 1", b"title 7"))
    elif change == "corrected":
        entries[8] = entries[8]._replace(action="amend", supersedes=entry_id(7))
        put(reader.layout, entries)
        keep(reader)
    else:
        put(reader.layout, [*entries, entry(9)._replace(parents=(entry_id(4),))])
        keep(reader)
    decoded.clear()
    span = thread_span(reader, "t", SpanQuery(-2), viewer())
    assert len(decoded) >= 9
    whole = whole_span(reader, reader.thread("t"), SpanQuery(-2), viewer())
    assert facts(span) == facts(whole)


def test_a_short_thread_is_read_whole(tmp_path: Path, decoded: list[bytes]) -> None:
    reader = StoreReader(os.fspath(tmp_path))
    os.makedirs(reader.layout.folder("t"))
    put(reader.layout, chain(*(entry(step) for step in range(9))))
    keep(reader)
    decoded.clear()
    thread_span(reader, "t", SpanQuery(-2), viewer())
    assert len(decoded) == 9
