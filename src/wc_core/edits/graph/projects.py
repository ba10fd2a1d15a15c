"""The files that configure a project, as far as imports depend on them.

============================= ==================================================
``package.json``              ``name``, and ``entries``: the files it stands for
``tsconfig.json``, ``js…``    ``base`` and ``paths``: where names are looked up
============================= ==================================================
"""

from __future__ import annotations

import json
import os
import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

# In a tsconfig.json: strings, which stay, and comments and trailing commas, which are
# removed.
_JSONC = re.compile(r'("(?:\\.|[^"\\])*")|//[^\n]*|/\*.*?\*/|,(?=\s*[}\]])', re.DOTALL)
_ENTRY_KEYS = ("source", "types", "module", "main")


def is_project_file(path: str) -> bool:
    """Whether a file configures a project."""
    return os.path.basename(path) in _READERS


def project_of(path: str, source: bytes) -> dict[str, Any]:
    """The settings of a project in one of its files; none if it cannot be read."""
    try:
        return _READERS[os.path.basename(path)](source.decode(errors="replace"))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return {}


def _package(text: str) -> dict[str, Any]:
    fields = json.loads(text)
    exports = fields.get("exports")
    if isinstance(exports, dict):
        exports = exports.get(".", exports)
    entries = [fields.get(key) for key in _ENTRY_KEYS]
    entries += _texts(exports)
    name = fields.get("name")
    return {
        "name": name if isinstance(name, str) else "",
        "entries": [entry for entry in entries if isinstance(entry, str)],
    }


def _texts(value: Any) -> list[str]:
    """The texts in a value, at any depth."""
    if isinstance(value, dict):
        return [text for item in value.values() for text in _texts(item)]
    return [value] if isinstance(value, str) else []


def _tsconfig(text: str) -> dict[str, Any]:
    fields = json.loads(_JSONC.sub(lambda match: match[1] or "", text))
    options = fields.get("compilerOptions") or {}
    paths = options.get("paths") or {}
    base = options.get("baseUrl")
    return {
        "base": base if isinstance(base, str) else "",
        "paths": {
            str(key): [item for item in value if isinstance(item, str)]
            for key, value in paths.items()
        },
    }


_READERS: dict[str, Callable[[str], dict[str, Any]]] = {
    "package.json": _package,
    "tsconfig.json": _tsconfig,
    "jsconfig.json": _tsconfig,
}
