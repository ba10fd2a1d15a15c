"""The format of the file with vectors: what was written is read, damage is not."""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.meaning.vectors import row_key, write_file
from wc_core.reading.meaning import vectorfile
from wc_core.reading.meaning.vectorfile import (
    HEADER_BYTES,
    PREFIX,
    Header,
    RowKey,
    UnusableVectorsError,
)

headers = st.builds(
    Header,
    st.text(max_size=30).filter(vectorfile.fits),
    st.integers(1, vectorfile.MOST_DIMENSIONS),
)
keys = st.builds(
    RowKey, st.binary(min_size=34, max_size=34), st.binary(min_size=8, max_size=8)
)
scales = st.floats(width=32, min_value=0, max_value=1)


@given(headers)
def test_a_header_is_read_as_it_was_written(header: Header) -> None:
    assert vectorfile.parse_header(header.render()) == header
    assert len(header.render()) == HEADER_BYTES


@given(headers, st.integers(0, HEADER_BYTES - 1), st.integers(0, 255))
def test_a_header_with_a_changed_byte_is_refused(
    header: Header, place: int, byte: int
) -> None:
    data = bytearray(header.render())
    if data[place] == byte:
        return
    data[place] = byte
    try:
        changed = vectorfile.parse_header(bytes(data))
    except UnusableVectorsError:
        return
    # A letter of the model's name, or a digit, makes a header of another model.
    assert changed != header
    assert changed.render() == bytes(data)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"watercooler vectors 1\n",
        b"watercooler vectors 2\n{}",
        b"SQLite format 3\0",
        Header("m", 4).render()[:-1],
        Header("m", 0).render(),
        Header("m", vectorfile.MOST_DIMENSIONS + 1).render(),
        f"{vectorfile.VERSION}\n{json.dumps([1])}\n".encode().ljust(HEADER_BYTES),
    ],
)
def test_a_foreign_or_damaged_header_is_refused(data: bytes) -> None:
    with pytest.raises(UnusableVectorsError):
        vectorfile.parse_header(data)


@given(keys, scales, st.binary(min_size=1, max_size=40))
def test_a_row_is_read_as_it_was_written(
    key: RowKey, scale: float, vector: bytes
) -> None:
    row = vectorfile.render_row(key, scale, vector)
    assert len(row) == PREFIX.size + len(vector)
    assert vectorfile.parse_row(row) == key


@given(keys, st.binary(min_size=4, max_size=4), st.data())
def test_a_row_with_a_changed_byte_does_not_count(
    key: RowKey, vector: bytes, data: st.DataObject
) -> None:
    row = bytearray(vectorfile.render_row(key, 0.5, vector))
    place = data.draw(st.integers(0, len(row) - 1))
    row[place] ^= data.draw(st.integers(1, 255))
    assert vectorfile.parse_row(bytes(row)) is None


def test_zeros_are_no_row() -> None:
    """What some file systems leave after a power cut."""
    assert vectorfile.parse_row(bytes(PREFIX.size + 4)) is None


@given(st.integers(0, 5), st.integers(0, 60))
def test_a_file_that_is_cut_off_has_its_whole_rows(count: int, kept: int) -> None:
    header = Header("m", 4)
    rows = [
        vectorfile.render_row(row_key("t", place), 1, bytes([place] * 4))
        for place in range(count)
    ]
    with TemporaryDirectory() as folder:
        layout = write_file(Path(folder), header, rows)
        path = Path(layout.vectors)
        data = path.read_bytes()[: HEADER_BYTES + kept]
        path.write_bytes(data)
        whole = header.rows(len(data))
        assert list(vectorfile.read_rows(layout, header)) == rows[:whole]


@given(st.lists(st.binary(max_size=9), max_size=9), st.integers(1, 6))
def test_rows_are_the_same_however_a_file_is_read(
    pieces: list[bytes], dimensions: int
) -> None:
    header = Header("m", dimensions)
    data = b"".join(pieces)
    rows = list(vectorfile.split_rows(pieces, header))
    assert b"".join(rows) == data[: len(data) - len(data) % header.row_bytes]
    assert {len(row) for row in rows} <= {header.row_bytes}


@pytest.mark.parametrize(
    "value",
    [
        None,
        [],
        [0.0, 0],
        ["1"],
        [True],
        [float("nan")],
        [float("inf")],
        [1e300],
        [1] * 9000,
        {"0": 1},
    ],
)
def test_what_is_no_vector_is_refused(value: object) -> None:
    assert not vectorfile.has_vector(value)


def test_a_vector_is_a_list_of_numbers() -> None:
    assert vectorfile.has_vector([0, -1.5, 1e-30])
