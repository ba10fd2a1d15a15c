"""The JSON schemas of structured content. The list of all tools has to fit in 16 KB, so
a schema names the keys of the answer, but not those of the lists and objects in it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

BOOLEAN = {"type": "boolean"}
INTEGER = {"type": "integer"}
OBJECT = {"type": "object"}
OBJECTS = {"type": "array", "items": {"type": "object"}}
TEXT = {"type": "string"}
TEXTS = {"type": "array", "items": {"type": "string"}}
# Not a list of types: clients that support only one type per value drop those.
OPTIONAL_TEXT = {"anyOf": [{"type": "string"}, {"type": "null"}]}
LIST = {"type": "array"}
OPTIONAL_OBJECT = {"anyOf": [{"type": "object"}, {"type": "null"}]}
OPTIONAL_INTEGER = {"anyOf": [{"type": "integer"}, {"type": "null"}]}


def object_schema(
    properties: Mapping[str, Mapping[str, Any]], required: Sequence[str]
) -> dict[str, Any]:
    """Returns the schema of an object with these properties."""
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(required),
    }


def answer_schema(properties: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Returns the schema of an answer in JSON. An answer in markdown has only a
    ``note`` that points to the text, so nothing is required."""
    return {"type": "object", "properties": {**properties, "note": TEXT}}
