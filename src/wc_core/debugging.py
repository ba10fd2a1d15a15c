"""``WATERCOOLER_DEBUG``: what a command or a call did, as one line of JSON.

``1`` leaves out what people wrote, ``bodies`` has it. Of an argument that may
carry text only the length is told; credentials of URLs are never told.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from wc_core import times
from wc_core.git.remotes import anonymous
from wc_core.text import clean

if TYPE_CHECKING:
    from collections.abc import Mapping

VARIABLE = "WATERCOOLER_DEBUG"

_OFF = ("", "0", "off")
_ON = ("1", "bodies")
_WIDTH = 200
_BODY_WIDTH = 4_000
_LONGEST_SECRET = 2_000


class Mode(NamedTuple):
    """Whether to log, and with texts; ``complaint`` is about a value that is
    none."""

    on: bool = False
    bodies: bool = False
    complaint: str = ""


def mode(env: Mapping[str, str]) -> Mode:
    """What the variable asks for; nothing by any value that it does not have."""
    said = env.get(VARIABLE, "")
    if said in _OFF:
        return Mode()
    if said in _ON:
        return Mode(on=True, bodies=said == "bodies")
    return Mode(
        complaint=f"{VARIABLE} cannot be {_cut(said, 60)!r}, so nothing is logged: "
        "1 logs without texts, bodies with them."
    )


def told(value: Any, bodies: bool) -> Any:  # noqa: FBT001 - the mode's own word
    """An argument that may carry text: the text, or how long it is."""
    if value is None or isinstance(value, bool | int | float):
        return value
    if bodies:
        return _cut(value if isinstance(value, str) else repr(value), _BODY_WIDTH)
    if isinstance(value, str):
        return f"<{len(value)} characters>"
    return f"<{type(value).__name__}>"


def safe(value: Any) -> Any:
    """An argument that is a name, a number or a word of ours, cut where it is
    long."""
    if value is None or isinstance(value, bool | int | float):
        return value
    return _cut(value if isinstance(value, str) else repr(value), _WIDTH)


def line(fields: Mapping[str, Any], now_ms: int) -> str:
    """One line of JSON, the time first, that a terminal obeys nothing of."""
    import json  # nothing is logged, as a rule

    return json.dumps({"time": times.rfc3339(now_ms), **fields}) + "\n"


def _cut(text: str, width: int) -> str:
    # Not all of a megabyte is looked through, but all of a URL and its token.
    text = anonymous(clean(text[: width + _LONGEST_SECRET]))
    return text if len(text) <= width else f"{text[: width - 1]}…"
