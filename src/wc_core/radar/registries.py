"""Files in which nearly every change adds a line of its own, so that conflicts in them
are usual and easy: changelogs, lock files, lists of modules."""

from __future__ import annotations

from fnmatch import fnmatchcase

_CHANGELOG = "keep the lines of both"
_LOCK = "take one side, and let the package manager write it again"
_LIST = "keep the lines of both, in their order"

_HINTS = {
    **dict.fromkeys(("changelog*", "changes*", "history*", "news*"), _CHANGELOG),
    **dict.fromkeys(("*.lock", "*-lock.json", "*-lock.yaml", "*.lockb"), _LOCK),
    **dict.fromkeys(("go.sum", "npm-shrinkwrap.json"), _LOCK),
    **dict.fromkeys(("mod.rs", "__init__.py", "index.ts", "index.js"), _LIST),
}


def hint(path: str) -> str:
    """How a conflict in a registry is resolved; empty for every other file."""
    name = path.rpartition("/")[2].lower()
    hints = (text for pattern, text in _HINTS.items() if fnmatchcase(name, pattern))
    return next(hints, "")
