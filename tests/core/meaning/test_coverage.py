"""The file that says which threads have all their vectors."""

from __future__ import annotations

import os
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from tests.core.meaning.vectors import write_file
from wc_core.reading.meaning import coverage
from wc_core.reading.meaning.coverage import CoveredThreads
from wc_core.reading.meaning.vectorfile import Header

words = st.text(st.characters(exclude_characters="\t\n", exclude_categories=["Cs"]))
coverages = st.builds(
    CoveredThreads,
    words,
    st.integers(0, 1 << 64),
    st.integers(0, 1 << 40),
    st.dictionaries(words.filter(bool), words, max_size=5),
)


@given(coverages)
def test_it_is_read_as_it_was_written(written: CoveredThreads) -> None:
    assert coverage.parse(written.render()) == written


@given(coverages, st.data())
def test_damage_is_noticed(written: CoveredThreads, data: st.DataObject) -> None:
    whole = written.render()
    cut = data.draw(st.integers(0, len(whole) - 1))
    assert coverage.parse(whole[:cut]) is None
    changed = bytearray(whole)
    changed[cut] ^= data.draw(st.integers(1, 255))
    assert coverage.parse(bytes(changed)) is None


def test_it_counts_only_beside_the_file_that_it_was_written_for(tmp_path: Path) -> None:
    header = Header("m", 4)
    layout = write_file(tmp_path, header, [bytes(header.row_bytes)] * 3)
    done = Path(layout.vectors_done)
    inode = os.lstat(layout.vectors).st_ino
    threads = {"login": "1.2.3.4"}

    def covered(written: CoveredThreads) -> dict[str, str]:
        done.write_bytes(written.render())
        return dict(coverage.covered_threads(layout, header))

    assert coverage.covered_threads(layout, header) == {}
    assert covered(CoveredThreads("m", inode, 3, threads)) == threads
    assert covered(CoveredThreads("m", inode, 2, threads)) == threads
    assert covered(CoveredThreads("m", inode, 4, threads)) == {}
    assert covered(CoveredThreads("m", inode + 1, 3, threads)) == {}
    assert covered(CoveredThreads("n", inode, 3, threads)) == {}
