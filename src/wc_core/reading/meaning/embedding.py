"""The vectors of texts, from the model that a person chose."""

from __future__ import annotations

from functools import lru_cache

from wc_core.base.errors import StorageError, WcError
from wc_core.reading.meaning.localmodel import LocalModel, LocalModelError
from wc_core.reading.meaning.models import EXTRA

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Protocol, TypeAlias

    from wc_core.base.modelserver.endpoint import Patience
    from wc_core.reading.meaning.models import Model
    from wc_core.reading.meaning.scoring import Vectors

    # A model's answers to queries, by the model and the text.
    QueryAnswers: TypeAlias = dict[tuple[Model, str], Vectors | WcError]

    class Embedder(Protocol):
        """A model, ready to use."""

        at_once: int

        def vectors(self, texts: Sequence[str]) -> Vectors:
            """Returns the vector of each text. Raises WcError."""


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
