"""The files that the text of a patch for ``apply_patch`` names."""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

# Agents run it in a shell, too.
PROGRAMS = ("apply_patch", "applypatch")
_FILE = re.compile(
    r"^\*\*\* (?:(?:Add|Update|Delete) File|Move to): (.+?)[ \t\r]*$", re.MULTILINE
)


def paths(patch: str) -> Iterator[str]:
    """The files, as they are written in the patch."""
    for match in _FILE.finditer(patch):
        yield match[1]
