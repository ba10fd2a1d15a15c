"""The JSON schemas of those answers that always have structured content."""

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
# Not a list of types: clients that support only one type for each value drop those.
OPTIONAL_TEXT = {"anyOf": [{"type": "string"}, {"type": "null"}]}


def object_schema(
    properties: Mapping[str, Mapping[str, Any]], required: Sequence[str]
) -> dict[str, Any]:
    """Returns the schema of an object with these properties."""
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(required),
    }
