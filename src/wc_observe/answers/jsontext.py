"""The variable by which a user says whether JSON is in the text of an answer too."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

VARIABLE = "WATERCOOLER_JSON_TEXT"
_CHOICES = {"on": True, "off": False}
_WIDTH = 40


def configured(env: Mapping[str, str]) -> bool | None:
    """Returns what the user chose, ``None`` if they chose nothing."""
    return _CHOICES.get(env.get(VARIABLE, "").strip().casefold())


def setting_problem(env: Mapping[str, str]) -> str:
    """Returns what is wrong with the variable, or an empty string."""
    value = env.get(VARIABLE, "").strip()
    if not value or configured(env) is not None:
        return ""
    return f"{VARIABLE} is {value[:_WIDTH]!r}, which is neither on nor off."
