"""Files with vectors, for tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from wc_core.base.layout import Layout
from wc_core.reading.meaning.vectorfile import Header, RowKey, entry_key, text_hash

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from wc_core.reading.meaning.scoring import Vectors

np = pytest.importorskip("numpy", reason="wc-watercooler[meaning] is not installed")


def some_vectors(count: int, dimensions: int, seed: int = 0) -> Vectors:
    rows = np.random.default_rng(seed).standard_normal((count, dimensions))
    unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    vectors: Vectors = np.asarray(unit, np.float32)
    return vectors


def ulid_of(number: int) -> str:
    return f"{number:026d}"


def row_key(topic: str, number: int, text: str = "") -> RowKey:
    return RowKey(entry_key(topic, ulid_of(number)), text_hash(text))


def write_file(root: Path, header: Header, rows: Sequence[bytes]) -> Layout:
    layout = Layout(str(root))
    path = root / ".local/index/vectors"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(header.render() + b"".join(rows))
    return layout
