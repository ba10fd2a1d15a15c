"""Which settings of FastMCP make the server's clients wait for it."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

_PREFIX, _ENV_FILE = "FASTMCP_", "FASTMCP_ENV_FILE"
# FastMCP's settings that do not affect its answers.
_HARMLESS = frozenset({"FASTMCP_CHECK_FOR_UPDATES", "FASTMCP_LOG_LEVEL"})


def slow_start(env: Mapping[str, str]) -> str:
    """Returns the name of a variable in the environment that makes clients wait for
    FastMCP, half a second or more, since it may change FastMCP's answers. Empty if
    there is none."""
    for name, value in sorted(env.items()):
        setting = name.upper()
        is_file = setting == _ENV_FILE and value == os.devnull
        if setting.startswith(_PREFIX) and setting not in _HARMLESS and not is_file:
            return name
    return ""
