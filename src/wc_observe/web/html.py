"""HTML that is safe by construction.

Everything inside an element is text and is escaped, unless it is `Html`. Only
`element`, `joined`, `text` and `web.markdown` make `Html`.
"""

from __future__ import annotations

import re
from html import escape
from typing import TYPE_CHECKING

from wc_core.base.text import clean

if TYPE_CHECKING:
    from collections.abc import Iterable

_OPTION = re.compile(r"(?<![^\s`\[(])(--?\w[\w-]*)")
_VOID = frozenset({"input", "link", "meta", "br", "hr", "img"})


class Html(str):
    """A piece of a page, ready to send."""

    __slots__ = ()


NOTHING = Html()


def text(words: str) -> Html:
    """Returns escaped text, without control and bidirectional characters."""
    return Html(escape(clean(words), quote=True))


def joined(parts: Iterable[str], between: str = "") -> Html:
    """Returns the concatenated parts; those that are not Html are escaped."""
    glue = text(between)
    return Html(glue.join(_inside(part) for part in parts))


def element(tag: str, /, *inside: str, **attributes: str | int | bool | None) -> Html:
    """Returns an element.

    ``class_`` and ``for_`` become ``class`` and ``for``, ``aria_label`` becomes
    ``aria-label``. ``True`` is an attribute without a value; ``None``, ``False`` and
    an empty class leave the attribute out.
    """
    written = "".join(_attribute(key, value) for key, value in attributes.items())
    if tag in _VOID:
        return Html(f"<{tag}{written}>")
    return Html(f"<{tag}{written}>{''.join(map(_inside, inside))}</{tag}>")


def code_text(words: str) -> Html:
    """Returns text for a ``code`` element. Browsers break lines after a hyphen, which
    would take an option apart: each option is an element that stays whole."""
    return joined(
        element("span", part, class_="option") if place % 2 else part
        for place, part in enumerate(_OPTION.split(words))
    )


def _inside(part: str) -> str:
    return part if isinstance(part, Html) else text(part)


def _attribute(key: str, value: str | int | bool | None) -> str:  # noqa: FBT001  (an attribute is either)
    name = key.rstrip("_").replace("_", "-")
    if value is None or value is False or (name == "class" and not value):
        return ""
    return f" {name}" if value is True else f' {name}="{text(str(value))}"'
