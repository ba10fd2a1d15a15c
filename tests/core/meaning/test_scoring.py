"""How near the vectors of a file are: as computed from all of them at once."""

from __future__ import annotations

import os
import tracemalloc
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.meaning.vectors import np, row_key, some_vectors, ulid_of, write_file
from wc_core.reading.meaning import scoring
from wc_core.reading.meaning.scoring import VectorFile, rendered_row, row_vector, unit
from wc_core.reading.meaning.vectorfile import (
    HEADER_BYTES,
    Header,
    UnusableVectorsError,
    plain_id,
)

if TYPE_CHECKING:
    from wc_core.base.layout import Layout
    from wc_core.reading.meaning.scoring import Nearest

HEADER = Header("m", 16)


def anything(_entry: bytes) -> bool:
    return True


def numbers_of(nearest: Nearest) -> list[int]:
    return [int(plain_id(key.entry[8:])) for key, _ in nearest.rows]


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    vectors = some_vectors(50, 16)
    rows = [rendered_row(row_key("t", n), row) for n, row in enumerate(vectors)]
    return write_file(tmp_path, HEADER, rows)


def test_a_vector_of_zeros_is_near_to_nothing() -> None:
    row = rendered_row(row_key("t", 1), np.zeros(4, np.float32))
    assert not row_vector(row).any()
    for numbers in ([0, 0], [], [[1.0]], [float("nan")]):
        with pytest.raises(ValueError, match="no direction"):
            unit(numbers)


@given(st.integers(0, 40), st.integers(1, 12), st.integers(0, 5), st.integers(1, 50))
def test_the_nearest_are_those_of_all(
    count: int, wanted: int, seed: int, at_once: int
) -> None:
    vectors = some_vectors(count, 16, seed)
    query = some_vectors(1, 16, seed + 100)[0]
    rows = [rendered_row(row_key("t", n), row) for n, row in enumerate(vectors)]
    scores = [float(row_vector(row) @ query) for row in rows]
    expected = sorted(range(count), key=lambda n: (-scores[n], ulid_of(n)))
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(scoring, "_NUMBERS_AT_ONCE", at_once * 16)
        with VectorFile(write_file(Path(folder), HEADER, rows)) as file:
            nearest = file.nearest(query, wanted, anything)
    assert numbers_of(nearest) == expected[:wanted]
    for (_, score), place in zip(nearest.rows, expected, strict=False):
        assert score == pytest.approx(scores[place], abs=1e-5)
    if count > wanted:
        assert nearest.floor == pytest.approx(
            max(scores[expected[wanted]], 0), abs=1e-5
        )
    else:
        assert nearest.floor == 0


def test_the_latest_row_about_an_entry_counts(layout: Layout) -> None:
    query = some_vectors(1, 16, 7)[0]
    key = row_key("t", 3, "another text")
    with Path(layout.vectors).open("ab") as file:
        file.write(rendered_row(key, query))
    with VectorFile(layout) as opened:
        nearest = opened.nearest(query, 50, anything)
    assert nearest.rows[0][0] == key
    assert sorted(numbers_of(nearest)) == [*range(50)]


def test_damaged_rows_are_left_out(layout: Layout) -> None:
    """Whatever number their bytes stand for, as infinity or none."""
    query = some_vectors(1, 16, 7)[0]
    path = Path(layout.vectors)
    data = bytearray(path.read_bytes())
    for row, byte in ((4, 0xFF), (5, 0x7F), (6, 0)):
        start = HEADER.offset(row)
        data[start + 34 : start + HEADER.row_bytes] = bytes([byte] * 32)
    path.write_bytes(data)
    with VectorFile(layout) as file:
        found = numbers_of(file.nearest(query, 50, anything))
    assert set(range(50)) - set(found) == {4, 5, 6}


def test_a_file_that_is_cut_off_in_the_meantime_is_not_used(layout: Layout) -> None:
    query = some_vectors(1, 16, 7)[0]
    with VectorFile(layout) as file:
        os.truncate(layout.vectors, HEADER_BYTES + 10)
        with pytest.raises(UnusableVectorsError, match="cut off"):
            file.nearest(query, 5, anything)


def test_nothing_outside_of_the_store_is_opened(layout: Layout, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    Path(layout.vectors).rename(elsewhere)
    Path(layout.vectors).symlink_to(elsewhere)
    with pytest.raises(UnusableVectorsError):
        VectorFile(layout)
    Path(layout.vectors).unlink()
    os.mkfifo(layout.vectors)
    with pytest.raises(UnusableVectorsError):
        VectorFile(layout)


def test_many_vectors_take_no_more_memory_than_a_few(layout: Layout) -> None:
    vectors = some_vectors(100, 256)
    data = b"".join(
        rendered_row(row_key("t", n), vectors[n % 100]) for n in range(2000)
    )
    header = Header("m", 256)
    write_file(Path(layout.root), header, [data] * 10)
    with VectorFile(layout) as file:
        tracemalloc.start()
        file.nearest(vectors[0], 10, anything)
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert most < 4_000_000 < os.path.getsize(layout.vectors)
