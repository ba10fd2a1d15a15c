"""The guidance of a repository for those who work in it.

``guidance.md`` is for everyone, at the start of a session. ``guidance/<occasion>.md``
has a few lines for one occasion, such as ``handoff``, and is shown with each answer to
it. These are other people's words: they are cleaned here, and shown as quotations.
"""

from __future__ import annotations

import os

from wc_core.base.files import names_in, read_from
from wc_core.base.layout import GUIDANCE, GUIDANCE_FOLDER
from wc_core.base.text import clean, defused, one_line
from wc_core.base.values import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from wc_core.base.layout import Layout

# The limits for one occasion.
MAX_LINES = 5
MAX_CHARACTERS = 600
# The limits for guidance.md.
MAX_GENERAL = 2000
# The occasion that also gets guidance.md.
BRIEF = "brief"
_MAX_BYTES = 1 << 13
_BULLETS = frozenset("-*")
_SUFFIX = ".md"


class Guidance(NamedTuple):
    """A repository's guidance for an occasion, from a ``file`` of its store. It is
    ``cut`` if the file exceeds the limit."""

    occasion: str
    file: str
    lines: tuple[str, ...]
    cut: bool = False

    def to_json(self) -> dict[str, Any]:
        """Returns the guidance, with its author."""
        fields: dict[str, Any] = {
            "on": self.occasion,
            "by": "this repository",
            "file": self.file,
            "lines": list(self.lines),
        }
        return {**fields, "cut": True} if self.cut else fields

    @property
    def heading(self) -> str:
        """The author of the lines."""
        return f"Guidance of this repository ({self.file}):"

    def text(self, indent: str = "  ") -> str:
        """Returns the heading, and the lines as a quotation."""
        quoted = [f"{indent}> {line}".rstrip() for line in self.lines]
        if self.cut:
            quoted.append(f"{indent}(cut; all of it: wc guidance list)")
        return "\n".join((self.heading, *quoted))


def for_occasion(layout: Layout, occasion: str) -> Guidance | None:
    """Returns the guidance for an occasion; ``None`` if there is none, or if its file
    cannot be read."""
    if not os.path.isdir(layout.guidance_folder):
        return None  # the usual case, and this runs after every command
    written = lines_of(layout, occasion)
    lines = within_limits(written)
    if not lines:
        return None
    return Guidance(occasion, file_of(occasion), lines, lines != written)


def for_brief(layout: Layout) -> tuple[Guidance, ...]:
    """Returns the guidance for the start of a session: ``guidance.md``, then that for
    the occasion ``brief``."""
    text = general_text(layout)
    general = Guidance(BRIEF, GUIDANCE, tuple(text.split("\n"))) if text else None
    return tuple(filter(None, (general, for_occasion(layout, BRIEF))))


def general_text(layout: Layout) -> str:
    """Returns the text of ``guidance.md``, cleaned and cut; empty if there is none
    or it cannot be read."""
    text = defused(clean(_text(layout, layout.guidance))).strip()
    return text if len(text) <= MAX_GENERAL else f"{text[: MAX_GENERAL - 1]}…"


def lines_of(layout: Layout, occasion: str) -> tuple[str, ...]:
    """Returns all lines of an occasion that are not empty, as from `line_text`; none if
    the file is missing or cannot be read."""
    written = _text(layout, layout.guidance_of(occasion)).split("\n")
    return tuple(filter(None, map(line_text, written)))


def line_text(written: str) -> str:
    """Returns a line as it is shown: cleaned, without the bullet of a list."""
    line = defused(one_line(written))
    bullet, _, text = line.partition(" ")
    return text if bullet in _BULLETS else line


def occasions_in(layout: Layout) -> tuple[str, ...]:
    """Returns the occasions that have a file, by name. Raises StorageError."""
    names = names_in(layout.guidance_folder, layout.root)
    return tuple(name.removesuffix(_SUFFIX) for name in names if is_file_name(name))


def is_file_name(name: str) -> bool:
    """Returns whether a file of that name has guidance."""
    return name.endswith(_SUFFIX) and not name.startswith(".")


def file_of(occasion: str) -> str:
    """Returns the path of the file of an occasion in the store."""
    return f"{GUIDANCE_FOLDER}/{occasion}{_SUFFIX}"


def within_limits(lines: tuple[str, ...]) -> tuple[str, ...]:
    """Returns the first lines, up to the limit; the last one may be cut."""
    allowed: list[str] = []
    room = MAX_CHARACTERS
    for line in lines[:MAX_LINES]:
        if len(line) > room:
            return (*allowed, f"{line[: room - 1]}…") if room > 1 else tuple(allowed)
        allowed.append(line)
        room -= len(line)
    return tuple(allowed)


def _text(layout: Layout, path: str) -> str:
    try:
        data = read_from(path, layout.root, 0, _MAX_BYTES)
    except OSError:
        return ""
    return data.decode(errors="replace")
