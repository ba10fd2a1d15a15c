"""The content of the graph: the names of its nodes and edges, and its indexes.

``docs/search.md#what-the-graph-has`` describes them to people who query the graph
themselves. `VERSION` rises when graphs have to be created again.
"""

from __future__ import annotations

from wc_core.lookup.words import FIELDS

VERSION = 2

# An index for each key that nodes are looked up by.
_KEYS = {
    "Repository": ("id",),
    "Thread": ("key", "repository"),
    "Entry": ("key", "repository", "id", "kind"),
    "Person": ("name",),
    "File": ("key", "repository"),
    "Vector": ("key", "repository"),
    "Model": ("name",),
}
# The words of an entry, as wc splits and folds them: neither stemmed nor stopped.
WORD_FIELDS = (*FIELDS, "recorded")
_WEIGHTS = {"title": 4.0, "topic": 2.0, "tag": 2.0}

# With this many neighbours and candidates, indexing an entry takes a third of the time
# of the defaults, and of the twenty nearest of 20,000 none is missed.
_VECTOR_OPTIONS = (
    "similarityFunction: 'cosine', M: 16, efConstruction: 64, efRuntime: 64"
)


def word_field(field: str) -> str:
    """Returns the property with the folded words of a field of `WORD_FIELDS`."""
    return f"{field}_words"


# Queries the version of a graph.
VERSION_QUERY = "MATCH (s:Schema) RETURN s.version"


def index_statements() -> list[str]:
    """Returns the statements that create the indexes, except those of vectors."""
    statements = [
        f"CREATE INDEX FOR (n:{label}) ON (n.{name})"
        for label, names in _KEYS.items()
        for name in names
    ]
    fields = ", ".join(
        f"{{field: '{word_field(field)}', nostem: true, "
        f"weight: {_WEIGHTS.get(field, 1.0)}}}"
        for field in WORD_FIELDS
    )
    statements.append(
        "CALL db.idx.fulltext.createNodeIndex("
        f"{{label: 'Entry', stopwords: []}}, {fields})"
    )
    return statements


def model_name(model: str, dimensions: int) -> str:
    """Returns the name of a model in the graph. Vectors with other dimensions count as
    another model's."""
    return f"{model} {dimensions}"


def vector_property(position: int) -> str:
    """Returns the property with the vectors of the model at a position, from 0. Each
    model has its own, so vectors of different models are never compared."""
    return f"vector_{position}"


def vector_index_statement(position: int, dimensions: int) -> str:
    """Returns the statement that creates the index of a model's vectors."""
    return (
        f"CREATE VECTOR INDEX FOR (v:Vector) ON (v.{vector_property(position)}) "
        f"OPTIONS {{dimension: {dimensions}, {_VECTOR_OPTIONS}}}"
    )


def vector_index_removal(position: int) -> str:
    """Returns the statement that removes the index of a model's vectors."""
    return f"DROP VECTOR INDEX FOR (v:Vector) ON (v.{vector_property(position)})"
