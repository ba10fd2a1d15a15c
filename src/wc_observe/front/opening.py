"""When the front answers, and when it leaves everything to the real server."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from wc_observe.front.declared import installed_versions, read_declared
from wc_observe.front.desk import Desk
from wc_observe.front.firstanswers import FirstAnswers

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from wc_observe.front.declared import Declarations

# FastMCP settings that do not affect its answers.
_HARMLESS = frozenset({"FASTMCP_CHECK_FOR_UPDATES", "FASTMCP_LOG_LEVEL"})


def open_desk(
    env: Mapping[str, str],
    *,
    all_stores: bool,
    repair: Callable[[bytes], bytes],
    leave: Callable[[OSError | None], None],
) -> Desk | None:
    """Returns a desk that answers from now on; ``None`` if the real server must get
    everything."""
    if not _is_usual(env) or sys.stdin is None or sys.stdout is None:
        return None
    declared = read_declared()
    if not _is_made_for(declared, sys.path):
        return None
    answers = FirstAnswers(declared, all_stores=all_stores)
    desk = Desk(answers, sys.stdin.fileno(), sys.stdout.buffer, repair, leave)
    desk.open()
    return desk


def _is_usual(env: Mapping[str, str]) -> bool:
    """Returns whether the environment leaves FastMCP's answers unchanged and requests
    no log of each request."""
    if env.get("WATERCOOLER_DEBUG"):
        return False
    settings = {
        name.upper(): value
        for name, value in env.items()
        if name.upper().startswith("FASTMCP_")
    }
    file = settings.pop("FASTMCP_ENV_FILE", os.devnull)
    return file == os.devnull and settings.keys() <= _HARMLESS


def _is_made_for(declared: Declarations, path: list[str]) -> bool:
    installed = installed_versions(path)
    return all(
        installed.get(name) == version for name, version in declared.packages.items()
    )
