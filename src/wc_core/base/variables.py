"""The variables of the environment that are ours, and what unknown ones still do.

A variable that an older version knew has no effect, but what it switched off does not
start because of that: while one says `OFF_WORDS`, nothing of this machine is sent
anywhere without a command.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

_PREFIX = "WATERCOOLER_"
KNOWN = frozenset(
    {
        "WATERCOOLER_AGENT",
        "WATERCOOLER_ALLOW_BREAK_LOCK",
        "WATERCOOLER_DETECT",
        "WATERCOOLER_DIR",
        "WATERCOOLER_GIT_AUTHOR",
        "WATERCOOLER_GIT_EMAIL",
        "WATERCOOLER_GIT_REPO",
        "WATERCOOLER_GIT_SSH_KEY",
        "WATERCOOLER_GRAPH_PASSWORD",
        "WATERCOOLER_GRAPH_USER",
        "WATERCOOLER_HTTP_OAUTH_SECRET",
        "WATERCOOLER_HTTP_TOKEN_FILE",
        "WATERCOOLER_MEANING",
        "WATERCOOLER_MODEL_KEY",
        "WATERCOOLER_SANDBOX",
        "WATERCOOLER_SEAT",
        "WATERCOOLER_SYNC",
        "WATERCOOLER_USER",
    }
)
# What switched something off, or let it ask first.
OFF_WORDS = frozenset({"off", "ask", "0"})


def unknown(env: Mapping[str, str]) -> dict[str, str]:
    """The variables that begin like ours and that this version does not know."""
    return {
        name: value
        for name, value in env.items()
        if name.startswith(_PREFIX) and value and name not in KNOWN
    }


def keeps_quiet(env: Mapping[str, str]) -> bool:
    """Whether nothing is sent without a command, because an unknown variable says
    so."""
    return not OFF_WORDS.isdisjoint(unknown(env).values())


def about_unknown(env: Mapping[str, str]) -> list[str]:
    """A sentence about each unknown variable."""
    return [
        f"{name} is a variable that this version does not know: "
        + (
            "while it is set, nothing is sent in the background; unset it"
            if value in OFF_WORDS
            else "it has no effect; unset it"
        )
        for name, value in sorted(unknown(env).items())
    ]
