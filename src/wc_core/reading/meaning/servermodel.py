"""The vectors of texts from a model server."""

from __future__ import annotations

import numpy as np

from wc_core.base.modelserver import endpoint as modelserver
from wc_core.base.modelserver.endpoint import (
    EMBEDDINGS,
    KEY_VARIABLE,
    USUAL,
    Endpoint,
    EndpointError,
    Patience,
)
from wc_core.reading.meaning.scoring import unit
from wc_core.reading.meaning.vectorfile import has_vector

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from wc_core.reading.meaning.models import Model
    from wc_core.reading.meaning.scoring import Vectors

# Limits while a user waits for a search.
SHORT_PATIENCE = Patience(answer_seconds=3.0, attempts=1)
# The length to which a text is cut that a server refuses.
_SHORT = 500


class ServerModel:
    """A model of a server that speaks OpenAI's API."""

    at_once = 64

    def __init__(
        self, model: Model, env: Mapping[str, str], patience: Patience = USUAL
    ) -> None:
        key = env.get(KEY_VARIABLE, "")
        self._endpoint = Endpoint(model.endpoint, model.name, key, KEY_VARIABLE)
        self._dimensions = 0
        self._patience = patience

    def vectors(self, texts: Sequence[str]) -> Vectors:
        """Like `Embedder.vectors`. If the server refuses a text, which may be too long
        for the model, the text is cut. Raises EndpointError."""
        try:
            return self._ask(texts)
        except EndpointError as error:
            if not error.concerns_request:
                raise
            if len(texts) > 1:
                # If the server accepts one of them, another one is the problem.
                first = self.vectors(texts[:1])
                middle = (len(texts) + 1) // 2
                parts = [
                    first,
                    self._optional_vectors(texts[1:middle]),
                    self._optional_vectors(texts[middle:]),
                ]
                return np.concatenate([part for part in parts if len(part)])
            if len(texts[0]) <= _SHORT:
                raise
            return self._ask([texts[0][:_SHORT]])

    def _optional_vectors(self, texts: Sequence[str]) -> Vectors:
        return self.vectors(texts) if texts else np.empty((0, 0), np.float32)

    def _ask(self, texts: Sequence[str]) -> Vectors:
        fields: dict[str, Any] = {"input": list(texts), "encoding_format": "float"}
        answer = modelserver.ask(self._endpoint, EMBEDDINGS, fields, self._patience)
        vectors = _vectors_in(answer.get("data"), len(texts))
        if vectors is None:
            error = self._error("an answer without a vector for each text")
            # Some models have none for some texts, and answer with NaN or nothing.
            error.concerns_request = True
            raise error
        lengths = {len(vector) for vector in vectors}
        expected = self._dimensions or len(vectors[0])
        if lengths != {expected}:
            unwanted = ", ".join(map(str, sorted(lengths - {expected})))
            raise self._error(f"vectors of {unwanted} numbers, not of {expected}")
        self._dimensions = expected
        return np.stack([unit(vector) for vector in vectors])

    def _error(self, problem: str) -> EndpointError:
        return EndpointError(
            f"The model server {self._endpoint.host}: {problem}.",
            "Check that the model of meaning.endpoint makes vectors.",
        )


def _vectors_in(data: Any, count: int) -> list[list[float]] | None:
    """The vectors in an answer, in the order of the texts; ``None`` if any is
    missing."""
    if not isinstance(data, list) or len(data) != count:
        return None
    vectors: list[list[float] | None] = [None] * count
    for place, item in enumerate(data):
        if not isinstance(item, dict) or not has_vector(item.get("embedding")):
            return None
        index = item.get("index", place)
        if type(index) is not int or not 0 <= index < count:
            return None
        vectors[index] = item["embedding"]
    complete = [vector for vector in vectors if vector is not None]
    return complete if len(complete) == count else None
