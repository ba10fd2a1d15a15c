"""The vectors of texts, from the model that a person chose."""

from __future__ import annotations

import importlib.util
import json
import os
from functools import lru_cache

import numpy as np
from tokenizers import Encoding, Tokenizer

from wc_core.base.errors import StorageError, WcError
from wc_core.reading.meaning.models import EXTRA, LOCAL_DIMENSIONS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Protocol, TypeAlias

    from wc_core.base.modelserver.endpoint import Patience
    from wc_core.reading.meaning.models import Model
    from wc_core.reading.meaning.scoring import Vectors

    QueryAnswers: TypeAlias = dict[tuple[Model, str], Vectors | WcError]

    class Embedder(Protocol):
        """A model, ready to use."""

        at_once: int

        def vectors(self, texts: Sequence[str]) -> Vectors:
            """Returns the vector of each text. Raises WcError."""


_WEIGHTS = "weights/l2_supercat_256.safetensors"
_TOKENIZER = "tokenizers/l2_supercat_tokenizer_config.json"
_TENSOR = "embedding.weight"
# The format safetensors: eight bytes with the length of a header in JSON, the header,
# the numbers.
_LENGTH_BYTES = 8
_MOST_HEADER = 1 << 20
_FEW = 500


def embedder(
    model: Model, env: Mapping[str, str], patience: Patience | None = None
) -> Embedder:
    """Returns the model, ready to use. Without ``patience``, a user waits: a server is
    asked once, for a few seconds. Raises StorageError."""
    if model.is_local:
        return _own_model()
    # 16 ms, only for the model of a server
    from wc_core.reading.meaning import servermodel

    return servermodel.ServerModel(model, env, patience or servermodel.SHORT_PATIENCE)


def query_embedder(
    model: Model, env: Mapping[str, str], answers: QueryAnswers | None = None
) -> Callable[[Sequence[str]], Vectors]:
    """Returns the function that makes vectors of texts while a user waits. It raises
    WcError if the model cannot be used, or a server does not answer soon. Texts in
    ``answers`` are not sent again, whatever store they are for."""
    known = {} if answers is None else answers

    def ask(texts: Sequence[str]) -> Vectors:
        return embedder(model, env).vectors(texts)

    def vectors(texts: Sequence[str]) -> Vectors:
        if len(texts) != 1:
            return ask(texts)  # the texts of entries
        asked = model, texts[0]
        if asked not in known:
            try:
                known[asked] = ask(texts)
            except WcError as error:
                known[asked] = error
        answer = known[asked]
        if isinstance(answer, WcError):
            raise answer
        return answer

    return vectors


@lru_cache(maxsize=1)
def _own_model() -> OwnModel:
    """The model on this machine, which a server process keeps loaded."""
    return OwnModel()


class OwnModel:
    """The model on this machine. Raises StorageError if it cannot be used."""

    at_once = 2000

    def __init__(self) -> None:
        try:
            self._model = LocalModel()
        except LocalModelError as error:
            hint = f"Install it again: pip install --force-reinstall '{EXTRA}'"
            raise StorageError(f"{error}.", hint) from error

    def vectors(self, texts: Sequence[str]) -> Vectors:
        """Like `Embedder.vectors`."""
        return self._model.vectors(texts)


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
