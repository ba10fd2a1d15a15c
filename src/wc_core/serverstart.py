"""When the server answers at once while it starts, and when its clients wait for
FastMCP."""

from __future__ import annotations

from wc_core.debugging import OFF, VARIABLE
from wc_core.lean import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

_PREFIX, _ENV_FILE = "FASTMCP_", "FASTMCP_ENV_FILE"
# FastMCP's settings that do not affect its answers.
_HARMLESS = frozenset({"FASTMCP_CHECK_FOR_UPDATES", "FASTMCP_LOG_LEVEL"})


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
