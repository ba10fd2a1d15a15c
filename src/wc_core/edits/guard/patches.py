"""The files that the text of a patch for ``apply_patch`` names."""

from __future__ import annotations

from wc_core.base.lean import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

# Agents also run it in a shell.
PROGRAMS = ("apply_patch", "applypatch")
# The flag is part of the pattern: the name re.MULTILINE would import `re`.
_FILE = re.compile(
    r"(?m)^\*\*\* (?:(?:Add|Update|Delete) File|Move to): (.+?)[ \t\r]*$"
)


def paths(patch: str) -> Iterator[str]:
    """The files, as written in the patch."""
    for match in _FILE.finditer(patch):
        yield match[1]
