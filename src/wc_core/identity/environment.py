"""Which agent runs us, and in which session: read from the environment that agents
give to their commands."""

from __future__ import annotations

import re

from wc_core.agents import CONVENTION, OLDER_CONVENTION, SESSION_VARIABLES, VARIABLES
from wc_core.names import ASKER, FREE_WORDS, ME

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_SLUG = r"[a-z][a-z0-9._-]{0,39}"
_NO_NAMES = FREE_WORDS | {ME, ASKER, "true", "yes", "on", "false", "no", "off"}

_SESSION_CHARACTERS = 6
_SESSION_END = r"[a-z0-9_-]{1,6}"


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
    word = re.split(r"[@/]|_(?=[0-9])", env.get(CONVENTION, ""), maxsplit=1)[0]
    return word if re.fullmatch(_SLUG, word) and word not in _NO_NAMES else ""


def session_end(env: Mapping[str, str]) -> str:
    """The end of the id of the session we run in, enough to tell it from others.

    Empty where there is no session, or its id has an unknown form.
    """
    session = next((env[name] for name in SESSION_VARIABLES if env.get(name)), "")
    end = session[-_SESSION_CHARACTERS:]
    return end if re.fullmatch(_SESSION_END, end) else ""
