"""The model on this machine: WordLlama's, which the package contains completely.

Its vector of a text is the mean of the vectors of its tokens, so it is computed here,
from the two files of the package. Importing the package itself would take 0.3 s more,
set up logging, and load code that could reach the network.
"""

from __future__ import annotations

import importlib.util
import json
import os

import numpy as np
from tokenizers import Encoding, Tokenizer

from wc_core.reading.meaning.models import LOCAL_DIMENSIONS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from wc_core.reading.meaning.scoring import Vectors

_WEIGHTS = "weights/l2_supercat_256.safetensors"
_TOKENIZER = "tokenizers/l2_supercat_tokenizer_config.json"
_TENSOR = "embedding.weight"
# The format safetensors: eight bytes with the length of a header in JSON, the header,
# the numbers.
_LENGTH_BYTES = 8
_MOST_HEADER = 1 << 20
_FEW = 500


class LocalModelError(Exception):
    """The package is missing, or has an unsupported version."""


class LocalModel:
    """The model, ready to use. Raises LocalModelError."""

    def __init__(self) -> None:
        spec = importlib.util.find_spec("wordllama")
        if spec is None or not spec.origin:
            raise LocalModelError("wordllama is not installed")
        folder = os.path.dirname(spec.origin)
        try:
            self._weights = _weights(f"{folder}/{_WEIGHTS}")
            self._tokenizer = Tokenizer.from_file(f"{folder}/{_TOKENIZER}")
        # The tokenizer raises nothing more precise.
        except Exception as error:
            raise LocalModelError(f"wordllama cannot be used: {error}") from error

    def vectors(self, texts: Sequence[str]) -> Vectors:
        """Returns the vector of each text, of length 1; zeros for a text without
        tokens."""
        rows = np.zeros((len(texts), LOCAL_DIMENSIONS), np.float32)
        # Text that cannot be encoded, such as a lone surrogate, cannot be in a token.
        plain = [text.encode(errors="replace").decode() for text in texts]
        encoded = self._encoded(plain)
        for row, tokens in zip(rows, encoded, strict=True):
            if tokens.ids:
                np.mean(self._weights[tokens.ids], axis=0, dtype=np.float32, out=row)
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        rows /= np.maximum(lengths, np.finfo(np.float32).tiny)
        return rows

    def _encoded(self, texts: list[str]) -> list[Encoding]:
        """The tokens of each text. Many are encoded by several threads, after which a
        process should not fork; commands and the server encode few."""
        if len(texts) > _FEW:
            encoded = self._tokenizer.encode_batch(texts, add_special_tokens=False)
            return list(encoded)
        encode = self._tokenizer.encode
        return [encode(text, add_special_tokens=False) for text in texts]


def _weights(path: str) -> np.memmap[tuple[int, int], np.dtype[np.float16]]:
    """The vector of each token. Raises OSError, ValueError, KeyError, TypeError."""
    with open(path, "rb") as file:
        length = int.from_bytes(file.read(_LENGTH_BYTES), "little")
        tensor = json.loads(file.read(min(length, _MOST_HEADER)))[_TENSOR]
    tokens, dimensions = tensor["shape"]
    if tensor["dtype"] != "F16" or dimensions != LOCAL_DIMENSIONS:
        raise ValueError(f"{path} has other numbers than expected")
    start = _LENGTH_BYTES + length + tensor["data_offsets"][0]
    return np.memmap(path, np.float16, "r", start, (tokens, dimensions))
