"""HTML that is safe by the way it is made.

Whatever is put inside of an element is text, and is escaped, unless it is
`Html`. Only `element`, `joined` and `webmarkdown` make that.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from wc_core.text import clean

if TYPE_CHECKING:
    from collections.abc import Iterable

_VOID = frozenset({"input", "link", "meta", "br", "hr"})


class Html(str):
    """A piece of a page, as it is sent."""

    __slots__ = ()


NOTHING = Html()


def text(words: str) -> Html:
    """Words as they are read: nobody's markup, and nothing that would make them
    read differently from what they are."""
    return Html(escape(clean(words), quote=True))


def joined(parts: Iterable[str], between: str = "") -> Html:
    """One after the other."""
    glue = text(between)
    return Html(glue.join(_inside(one) for one in parts))


def element(tag: str, /, *inside: str, **attributes: str | int | bool | None) -> Html:
    """An element. ``class_`` and ``for_`` are spelt so for Python's sake, and
    ``aria_label`` is ``aria-label``; ``True`` is an attribute without a value,
    ``None``, ``False`` and the empty class are none at all."""
    said = "".join(_attribute(key, value) for key, value in attributes.items())
    if tag in _VOID:
        return Html(f"<{tag}{said}>")
    return Html(f"<{tag}{said}>{''.join(map(_inside, inside))}</{tag}>")


def _inside(part: str) -> str:
    return part if isinstance(part, Html) else text(part)


def _attribute(key: str, value: str | int | bool | None) -> str:  # noqa: FBT001  (an attribute is either)
    name = key.rstrip("_").replace("_", "-")
    if value is None or value is False or (name == "class" and not value):
        return ""
    return f" {name}" if value is True else f' {name}="{text(str(value))}"'
