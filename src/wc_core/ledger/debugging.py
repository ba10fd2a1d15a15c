"""The debug log of ``WATERCOOLER_DEBUG``: one line of JSON for each command or call.

With ``1``, only the length of an argument with people's text is logged, with ``bodies``
also the text. Credentials in URLs are never logged.

With it, or with a setting of FastMCP, the server's clients wait for FastMCP.
"""

from __future__ import annotations

import json
import os

from wc_core.base import times
from wc_core.base.text import clean
from wc_core.base.values import NamedTuple
from wc_core.ledger.git.remotes import anonymous

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

VARIABLE = "WATERCOOLER_DEBUG"

OFF = ("", "0", "off")
_ON = ("1", "bodies")
_PREFIX, _ENV_FILE = "FASTMCP_", "FASTMCP_ENV_FILE"
# FastMCP's settings that do not affect its answers.
_HARMLESS = frozenset({"FASTMCP_CHECK_FOR_UPDATES", "FASTMCP_LOG_LEVEL"})
_WIDTH = 200
_BODY_WIDTH = 4_000
_LONGEST_SECRET = 2_000


class Mode(NamedTuple):
    """Whether to log, and whether with texts.

    ``complaint`` is a message about an invalid value of the variable.
    """

    on: bool = False
    bodies: bool = False
    complaint: str = ""


def mode(env: Mapping[str, str]) -> Mode:
    """The mode that the variable sets. An invalid value turns nothing on."""
    text = env.get(VARIABLE, "")
    if text in OFF:
        return Mode()
    if text in _ON:
        return Mode(on=True, bodies=text == "bodies")
    return Mode(
        complaint=f"{VARIABLE} cannot be {_cut(text, 60)!r}, so nothing is logged: "
        "1 logs without texts, bodies with them."
    )


def slow_start(env: Mapping[str, str]) -> str:
    """Returns the name of a variable in the environment that makes clients wait for
    FastMCP, half a second or more: it may change FastMCP's answers, or requests a log
    of every request. Empty if there is none."""
    if env.get(VARIABLE, "") not in OFF:
        return VARIABLE
    for name, value in sorted(env.items()):
        setting = name.upper()
        is_file = setting == _ENV_FILE and value == os.devnull
        if setting.startswith(_PREFIX) and setting not in _HARMLESS and not is_file:
            return name
    return ""


def shown_argument(value: Any, bodies: bool) -> Any:  # noqa: FBT001 - the mode's own word
    """An argument that may have people's text: the text, or only its length."""
    if value is None or isinstance(value, bool | int | float):
        return value
    if bodies:
        return _cut(value if isinstance(value, str) else repr(value), _BODY_WIDTH)
    if isinstance(value, str):
        return f"<{len(value)} characters>"
    return f"<{type(value).__name__}>"


def shown_word(value: Any) -> Any:
    """An argument without people's text (a name, a number, an option), cut if long."""
    if value is None or isinstance(value, bool | int | float):
        return value
    return _cut(value if isinstance(value, str) else repr(value), _WIDTH)


def log_line(fields: Mapping[str, Any], now_ms: int) -> str:
    """A line of the log: JSON with the time first, in ASCII, safe for a terminal."""
    return json.dumps({"time": times.rfc3339(now_ms), **fields}) + "\n"


def _cut(text: str, width: int) -> str:
    # Cut first, because a text may be huge, but not inside a URL with its token.
    text = anonymous(clean(text[: width + _LONGEST_SECRET]))
    return text if len(text) <= width else f"{text[: width - 1]}…"
