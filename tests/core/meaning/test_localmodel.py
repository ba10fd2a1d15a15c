"""The model on this machine: as its own package computes it, without its package."""

from __future__ import annotations

import importlib
import logging
import os
import subprocess
import sys

import pytest

from tests.core.meaning.vectors import np
from wc_core.reading.meaning.embedding import LocalModel

pytest.importorskip("wordllama", reason="wc-watercooler[meaning] is not installed")

TEXTS = [
    "What did we decide about retries?",
    "we back off exponentially",
    "x",
    "Größe 漢字 🙂",
    "word " * 3000,
]


def test_vectors_are_those_of_the_package() -> None:
    """It is imported here alone: it sets up logging."""
    handlers = logging.root.handlers[:]
    level = logging.root.level
    wordllama = importlib.import_module("wordllama")
    logging.root.handlers[:] = handlers
    logging.root.setLevel(level)
    folder = os.path.dirname(wordllama.__file__ or "")
    model = wordllama.WordLlama.load(cache_dir=folder, disable_download=True)
    expected = model.embed(TEXTS, norm=True)
    assert np.abs(LocalModel().vectors(TEXTS) - expected).max() < 1e-5


def test_many_texts_have_the_same_vectors_as_few() -> None:
    model = LocalModel()
    many = model.vectors([*TEXTS[:4]] * 200)
    assert np.array_equal(many[:4], model.vectors(TEXTS[:4]))
    assert np.array_equal(many[-4:], many[:4])


def test_a_text_without_tokens_has_no_direction() -> None:
    vectors = LocalModel().vectors(["", "\ud800"])
    assert not vectors[0].any()
    assert vectors.shape == (2, 256)


def test_what_means_the_same_is_nearer() -> None:
    question, answer, other = LocalModel().vectors(
        [
            "how do we ship a new version to users",
            "Release and distribution flow",
            "Cursor blocks in the lower pane",
        ]
    )
    assert question @ answer > question @ other


def test_neither_the_package_nor_a_network_library_is_imported() -> None:
    program = (
        "import sys; from wc_core.reading.meaning import embedding;"
        "embedding.LocalModel().vectors(['x']);"
        "print({'wordllama', 'requests', 'huggingface_hub', 'http.client', 'ssl'}"
        " & {*sys.modules})"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "set()"
    assert done.stderr == ""
