"""The vector of a graph with which a query is compared: that of the model preferred by
the user who runs the server, if entries in the graph have any of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wc_core.base.errors import WcError
from wc_core.base.values import NamedTuple
from wc_core.ledger.configuration import preferences
from wc_core.reading.graphdb import schema

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wc_observe.stores.graphdb.reader import GraphReader

_MODELS = "MATCH (m:Model) RETURN m.name, m.position, m.dimensions"


class QueryVector(NamedTuple):
    """A query's vector, and the property with the entries' vectors. Without a vector,
    ``problem`` is the reason, or empty if it need not be shown."""

    name: str = ""
    numbers: tuple[float, ...] = ()
    problem: str = ""


def query_vector(graph: GraphReader, text: str, env: Mapping[str, str]) -> QueryVector:
    """Returns the vector of a query. Raises GraphAwayError; other problems are in the
    result."""
    from wc_core.reading.meaning import models  # as in `wc_core.reading.meaning.asking`

    personal = preferences.load(env)
    model, reason = models.chosen(personal)
    if model is None:
        return QueryVector(problem=reason if personal.by_meaning else "")
    positions = {
        name: (position, dimensions)
        for name, position, dimensions in graph.rows(_MODELS)
        if name == schema.model_name(model.name, dimensions)
        and model.dimensions in {0, dimensions}
    }
    if not positions:
        return QueryVector(problem=f"the graph has no vectors of {model.name}")
    # 0.1 s (numpy, tokenizers), for searches whose words find little.
    from wc_core.reading.meaning.embedding import query_embedder

    try:
        vector = query_embedder(model, env)([text])[0]
    except WcError as error:
        return QueryVector(problem=error.message)
    except ValueError:
        return QueryVector(problem="the model knows none of the words")
    for position, dimensions in positions.values():
        if len(vector) == dimensions:
            numbers = tuple(float(number) for number in vector)
            return QueryVector(schema.vector_property(position), numbers)
    return QueryVector(problem=f"the graph has no vectors of {len(vector)} numbers")
