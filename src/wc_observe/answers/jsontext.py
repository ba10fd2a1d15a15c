"""The variable with which users choose whether JSON is also in an answer's text."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

VARIABLE = "WATERCOOLER_JSON_TEXT"
_CHOICES = {"on": True, "off": False}
_WIDTH = 40


def configured(env: Mapping[str, str]) -> bool | None:
    """Returns the user's choice; ``None`` if they made none."""
    return _CHOICES.get(env.get(VARIABLE, "").strip().casefold())


def setting_problem(env: Mapping[str, str]) -> str:
    """Returns what is wrong with the variable's value, or an empty string."""
    value = env.get(VARIABLE, "").strip()
    if not value or configured(env) is not None:
        return ""
    return f"{VARIABLE} is {value[:_WIDTH]!r}, which is neither on nor off."
