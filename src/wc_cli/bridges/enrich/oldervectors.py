"""The vectors in the ``search-index.jsonl`` of the older tool.

Each line is an object with ``entry_id``, ``thread_topic`` and ``embedding``. The file
does not name the model, so `same_model` compares some vectors with new ones of the same
entries.
"""

from __future__ import annotations

import json

import numpy as np

from wc_core.base.files import read_plain
from wc_core.reading.meaning.scoring import unit
from wc_core.reading.meaning.vectorfile import has_vector

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from wc_core.base.layout import Layout
    from wc_core.reading.meaning.scoring import Vectors

SAMPLE = 8
# The similarity of vectors of different models is close to 0. That of one model's
# vectors is much higher, even for different parts of a text.
_LEAST_NEAR = 0.5


def read_vectors(layout: Layout, dimensions: int) -> dict[tuple[str, str], Vectors]:
    """Return the vectors with this number of dimensions, by topic and id."""
    try:
        data = read_plain(layout.older_vectors, layout.root) or b""
    except OSError:
        return {}
    return {
        name: vector
        for name, vector in _parsed(data)
        if not dimensions or len(vector) == dimensions
    }


def _parsed(data: bytes) -> Iterator[tuple[tuple[str, str], Vectors]]:
    for line in data.splitlines():
        try:
            fields = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(fields, dict) and has_vector(fields.get("embedding")):
            name = str(fields.get("thread_topic")), str(fields.get("entry_id"))
            yield name, unit(fields["embedding"])


def chosen(
    vectors: Mapping[tuple[str, str], Vectors], names: Sequence[tuple[str, str]]
) -> Vectors:
    """Return the vectors with these names; none if they differ in length."""
    rows = [vectors[name] for name in names]
    if len({len(row) for row in rows}) != 1:
        return np.empty((0, 0), np.float32)
    return np.stack(rows)


def same_model(older: Vectors, now: Vectors) -> bool:
    """Return whether two sets of vectors, of the same entries, are of one model."""
    if older.shape != now.shape or not len(older):
        return False
    return float(np.mean(np.sum(older * now, axis=1))) >= _LEAST_NEAR
