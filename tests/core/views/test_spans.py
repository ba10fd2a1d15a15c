"""Some entries of a thread: the same with the seal of its log and without."""

from __future__ import annotations

import os
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
from tests.core.views.sealedlogs import damages, put
from wc_core.base import files
from wc_core.base.lean import json
from wc_core.ledger.threads import codec, folding
from wc_core.ledger.threads.excerpts.sealed import excerpt, sealed_thread
from wc_core.ledger.threads.excerpts.sealing import seal_of
from wc_core.ledger.threads.projections import Meta, Seal, read_meta, render_meta
from wc_core.ledger.threads.reader import StoreReader
from wc_core.reading.views.entries import thread_head
from wc_core.reading.views.excerpts.spans import (
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


def facts(span: ThreadSpan) -> tuple[object, ...]:
    thread = span.thread
    head = thread_head(thread, "store")
    return head, thread.snapshot.tags, span.entries, span.left_out_count, span.following


@relaxed
@given(
    linear_logs() | linear_logs(recorded=False) | forked_logs(),
    st.tuples(damages, st.integers(0, 11)),
    st.lists(queries, min_size=1, max_size=4),
    st.integers(0, 12),
    st.sampled_from((*AGENTS, "Nobody")),
    # The size of a piece decides how much is kept at first: no line, the last ones or
    # all.
    st.sampled_from((7, 300, 1 << 16)),
)
def test_a_sealed_log_gives_the_same_entries_as_the_whole_thread(
    entries: list[Entry],
    damage: tuple[str, int],
    asked: list[SpanQuery],
    read: int,
    name: str,
    piece_bytes: int,
) -> None:
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(files, "_PIECE", piece_bytes)
        reader, someone = StoreReader(folder), viewer(name)
        layout = reader.layout
        os.makedirs(layout.folder("t"))
        put(layout, entries, *damage)
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


@relaxed
@given(linear_logs())
def test_every_log_of_ours_has_a_seal(entries: list[Entry]) -> None:
    data = b"".join(codec.to_line(item, idx) for idx, item in enumerate(entries))
    log = codec.read_log("t", data)
    seal = seal_of(log, data)
    if not entries:
        assert seal is None
        return
    assert seal is not None
    assert seal.linear
    meta = read_meta("t", render_meta(folding.fold("t", entries), 1, {}, seal))
    assert isinstance(meta, Meta)
    assert meta.seal == seal
    if not seal.corrections:
        grown = Seal()
        for idx, item in enumerate(entries):
            grown = grown.after(codec.to_line(item, idx), item.agent)
        assert grown == seal


def test_only_what_is_asked_for_is_decoded(
    tmp_path: Path, decoded: list[bytes]
) -> None:
    reader = StoreReader(os.fspath(tmp_path))
    os.makedirs(reader.layout.folder("t"))
    texts = [entry(step, AGENTS[step % 2]) for step in range(50)]
    texts[48] = texts[48]._replace(action="amend", supersedes=entry_id(2))
    put(reader.layout, chain(*texts))
    decoded.clear()
    span = thread_span(reader, "t", SpanQuery(-5), viewer())
    assert [item.idx for item in span.entries] == [45, 46, 47, 49]
    assert len(decoded) == 4
    decoded.clear()
    span = thread_span(reader, "t", SpanQuery(limit=3), viewer())
    assert [item.mark for item in span.entries] == ["", "", "amended"]
    assert (span.left_out_count, span.following) == (46, 3)
    assert len(decoded) == 4  # the correction, too


def test_few_lines_of_a_long_log_are_kept(tmp_path: Path) -> None:
    reader = StoreReader(os.fspath(tmp_path))
    os.makedirs(reader.layout.folder("t"))
    log = Path(reader.layout.log("t"))
    # Lines longer than a piece, and pieces with many lines.
    lengths = [300_000, *[3000] * 198, 300_000]
    entries = [entry(step)._replace(body="x" * n) for step, n in enumerate(lengths)]
    texts = chain(*entries)
    put(reader.layout, texts)
    thread = sealed_thread(reader, "t")
    assert thread is not None
    assert thread.entry_count == 200
    assert len(thread.lines.kept) < 50
    for position in (199, 0, 1, 100, 101, 198, 0, 199):
        assert thread.entry(position) == texts[position]
        assert len(thread.lines.kept) < 50
    for start, stop in ((0, 4), (90, 111), (150, 199), (199, 200), (0, 200)):
        assert thread.lines.keep(start, stop)
        kept = [thread.entry(position) for position in range(start, stop)]
        assert kept == [*texts[start:stop]]

    thread = sealed_thread(reader, "t")
    assert thread is not None
    log.write_bytes(log.read_bytes().replace(b"title 7", b"title 8"))
    assert thread.entry(0) is None
    assert excerpt(thread, [0, 1]) is None
    os.unlink(log)
    assert thread.entry(0) is None


def test_a_log_that_is_too_large_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reader = StoreReader(os.fspath(tmp_path))
    os.makedirs(reader.layout.folder("t"))
    put(reader.layout, chain(entry(0)))
    monkeypatch.setattr("wc_core.ledger.threads.excerpts.sealed.MAX_BYTES", 10)
    assert sealed_thread(reader, "t") is None


@pytest.mark.parametrize("pair", [(1, 3), (1, 99), (-1, 1), (-9, 1)])
def test_a_seal_with_a_correction_outside_of_the_log_is_not_used(
    tmp_path: Path, pair: tuple[int, int]
) -> None:
    reader = StoreReader(os.fspath(tmp_path))
    os.makedirs(reader.layout.folder("t"))
    texts = chain(*(entry(step) for step in range(3)))
    put(reader.layout, texts)
    meta = reader.meta("t")
    assert meta.seal is not None
    assert meta.state is not None
    forged = meta.seal._replace(corrections=(pair,))
    data = render_meta(meta.state, meta.log_size, {}, forged)
    Path(reader.layout.meta("t")).write_bytes(data)
    span = thread_span(reader, "t", SpanQuery(start=-2), viewer())
    assert [item.entry for item in span.entries] == texts[1:]


@pytest.mark.parametrize("change", ["appended", "edited"])
def test_a_log_that_another_program_changed_is_read_whole(
    tmp_path: Path, change: str
) -> None:
    reader = StoreReader(os.fspath(tmp_path))
    os.makedirs(reader.layout.folder("t"))
    put(reader.layout, chain(*(entry(step) for step in range(3))))
    assert sealed_thread(reader, "t") is not None
    log = Path(reader.layout.log("t"))
    data = log.read_bytes()
    if change == "appended":
        log.write_bytes(data + codec.to_line(entry(9), 3))
    else:
        log.write_bytes(data.replace(b"title 1", b"title 7"))
    assert sealed_thread(reader, "t") is None
