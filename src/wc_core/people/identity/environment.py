"""Which agent runs us, and in which session: read from the environment that agents give
to their commands."""

from __future__ import annotations

from wc_core.base.agents import (
    CONVENTION,
    OLDER_CONVENTION,
    SESSION_VARIABLES,
    VARIABLES,
)
from wc_core.base.names import ASKER, FREE_WORDS, ME
from wc_core.base.text import consists_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_LETTERS, _DIGITS = "abcdefghijklmnopqrstuvwxyz", "0123456789"
_MAX_NAME = 40
_NO_NAMES = FREE_WORDS | {ME, ASKER, "true", "yes", "on", "false", "no", "off"}

_SESSION_CHARACTERS = 6


def agents_in(env: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield each variable that names an agent, with the agent; the first counts."""
    for variable, agent in VARIABLES:
        if env.get(variable):
            yield variable, agent
    agent = convention_agent(env)
    if agent:
        yield CONVENTION, agent
    if env.get(OLDER_CONVENTION[0]) == OLDER_CONVENTION[1]:
        yield OLDER_CONVENTION


def convention_agent(env: Mapping[str, str]) -> str:
    """The agent that ``AI_AGENT`` names, without its version; empty if none."""
    word = env.get(CONVENTION, "").partition("@")[0].partition("/")[0]
    name, underscore, version = word.partition("_")
    if underscore and not consists_of(version[:1], _DIGITS, 1):
        return ""
    is_name = consists_of(name, f"{_LETTERS}{_DIGITS}._-", _MAX_NAME)
    return name if is_name and name[0] in _LETTERS and name not in _NO_NAMES else ""


def session_end(env: Mapping[str, str]) -> str:
    """The end of the current session's id, enough to distinguish it from others.

    Empty if there is no session, or its id has an unknown form.
    """
    session = next((env[name] for name in SESSION_VARIABLES if env.get(name)), "")
    end = session[-_SESSION_CHARACTERS:]
    allowed = f"{_LETTERS}{_DIGITS}_-"
    return end if consists_of(end, allowed, _SESSION_CHARACTERS) else ""
