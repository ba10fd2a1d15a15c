"""The format of the overview: a record says what a row shows; damage is left out."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import assume, given
from hypothesis import strategies as st

from tests.core.strategies import (
    AGENTS,
    entry,
    references,
    relaxed,
    states,
    viewer,
    words,
    write_thread,
)
from wc_core.base.errors import Damage
from wc_core.ledger.threads.gates import Gate
from wc_core.ledger.threads.model import Link, OpenQuestion
from wc_core.ledger.threads.reader import StoreReader
from wc_core.ledger.threads.snapshot import Snapshot
from wc_core.lookup.index import overview
from wc_core.reading.views import listing
from wc_core.reading.views.rows import thread_row

snapshots = st.builds(
    Snapshot,
    states.flatmap(
        lambda state: st.builds(
            state._replace,
            links=st.lists(st.builds(Link, words, words), max_size=2).map(tuple),
            questions=st.lists(
                st.builds(
                    OpenQuestion,
                    words,
                    st.sampled_from(AGENTS),
                    st.sampled_from(AGENTS),
                    words,
                ),
                max_size=2,
            ).map(tuple),
            gates=st.lists(st.builds(Gate, words, words, words), max_size=2).map(tuple),
        )
    ),
    st.just(1),
    st.booleans(),
    st.lists(
        st.builds(Damage, words, st.just(1), st.just("garbage"), words, st.booleans()),
        max_size=2,
    ).map(tuple),
    name=st.just("t"),
    tags=references,
)


@given(snapshots, st.sampled_from(AGENTS))
@relaxed
def test_a_record_gives_the_row_of_its_thread(snapshot: Snapshot, name: str) -> None:
    assume(overview.can_have(snapshot))
    with TemporaryDirectory() as root:
        reader, me = StoreReader(root), viewer(name)
        record = overview.encode(snapshot, "1.2.3.4,5.6.7.8")
        assert "\n" not in record
        parsed = overview.parse(
            f"{overview.HEADER}\n".encode() + overview.render_batch([record])
        )
        assert parsed == {"t": record}
        row = listing.RowMaker(reader, me).row(parsed["t"])
        assert row == thread_row(reader, snapshot, me)


def batches() -> list[bytes]:
    made = []
    for number in range(3):
        topics = (f"topic-{number}", "shared")
        made.append(
            overview.render_batch(f"{topic}\tkey {number}\t\\\t=" for topic in topics)
        )
    return made


@given(st.data())
@relaxed
def test_what_is_cut_off_or_damaged_is_left_out(data: st.DataObject) -> None:
    whole = f"{overview.HEADER}\n".encode() + b"".join(batches())
    true_items = {
        (topic, f"{topic}\tkey {number}\t\\\t=")
        for number in range(3)
        for topic in (f"topic-{number}", "shared")
    }
    cut = data.draw(st.integers(0, len(whole)))
    for damaged in (whole[:cut], damage(whole, cut), whole[:cut] + whole[cut + 7 :]):
        assert set(overview.parse(damaged).items()) <= true_items
    assert overview.parse(whole)["shared"].startswith("shared\tkey 2")


def damage(data: bytes, place: int) -> bytes:
    return (
        data[:place]
        + bytes(byte ^ 1 for byte in data[place : place + 3])
        + (data[place + 3 :])
    )


def test_a_file_of_another_version_is_not_read(tmp_path: Path) -> None:
    write_thread(tmp_path, "t", [entry(1)])
    reader = StoreReader(str(tmp_path))
    path = Path(reader.layout.overview)
    path.parent.mkdir(parents=True)
    path.write_bytes(b"watercooler overview 1\n" + batches()[0])
    assert overview.read_records(reader.layout) == {}
    path.write_bytes(f"{overview.HEADER}\n".encode() + batches()[0])
    assert [*overview.read_records(reader.layout)] == ["topic-0", "shared"]
