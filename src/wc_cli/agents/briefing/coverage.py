"""Whose edits are guarded: what is known about the guard of each agent that works here.

A guard that ran has left a trace in the store. Nothing else is proof: a client may
silently skip hooks that its user has not trusted.
"""

from __future__ import annotations

import os
import time

from wc_cli.agents.briefing.dialects import DIALECTS
from wc_core.attention.status import identityfiles
from wc_core.base.agents import AGENTS
from wc_core.base.errors import WcError
from wc_core.base.files import names_in
from wc_core.base.names import fold, parse
from wc_core.base.times import ago
from wc_core.base.values import NamedTuple
from wc_core.ledger.configuration.keys import OFF

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from wc_core.base.agents import Agent
    from wc_core.base.layout import Layout

# A guard that has not run for this long may have been removed.
_TRUSTED_SECONDS = 14 * 24 * 3600
_BY_NAME = {fold(agent.name): agent for agent in AGENTS}


class Coverage(NamedTuple):
    """Whether the edits of an agent are guarded, with the evidence or the reason why
    not."""

    agent: str
    is_guarded: bool
    reason: str

    def to_json(self) -> dict[str, Any]:
        """The coverage as JSON output has it."""
        return {"agent": self.agent, "guarded": self.is_guarded, "reason": self.reason}


def coverage(layout: Layout, level: str, holders: Iterable[str]) -> list[Coverage]:
    """The coverage of each known agent that has run ``wc`` in one of the worktrees,
    whose guard has run, or who is among the ``holders`` of claims."""
    names = {fold(parse(name).agent) for name in (*holders, *_seen(layout))}
    agents = [agent for key, agent in _BY_NAME.items() if key in names]
    return [_coverage_of(layout, agent, level) for agent in agents]


def coverage_text(level: str, rows: Iterable[Coverage]) -> str:
    """The coverage as at most two lines: the guarded agents, then the others."""
    rows = list(rows)
    lines = []
    for heading, is_guarded in (("guarded", True), ("advisory", False)):
        chosen = [row for row in rows if row.is_guarded == is_guarded]
        facts = [f"{row.agent} ({row.reason})" for row in chosen]
        if facts:
            lines.append(f"{heading} ({level}): {'; '.join(facts)}")
    return "\n".join(lines)


def _coverage_of(layout: Layout, agent: Agent, level: str) -> Coverage:
    dialect = DIALECTS.get(agent.client)
    if level == OFF:
        return Coverage(agent.name, False, "[claims] guard is off")
    if dialect is None or not dialect.tool_events:
        return Coverage(agent.name, False, "wc has no guard for this client")
    try:
        age = time.time() - os.lstat(layout.guard_trace(agent.client)).st_mtime
    except OSError:
        fact = "its guard has never run here"
    else:
        fact = f"its guard ran {ago(max(0, int(age)))}"
        if age < _TRUSTED_SECONDS:
            return Coverage(agent.name, True, fact)
    trust = ", then trust it with /hooks" if agent.client == "codex" else ""
    return Coverage(agent.name, False, f"{fact}: wc install {agent.client}{trust}")


def _seen(layout: Layout) -> Iterable[str]:
    """The keys of the agents that have run ``wc`` here or whose guard has run."""
    try:
        clients = set(names_in(layout.guards, layout.root))
        yield from (fold(one.name) for one in AGENTS if one.client in clients)
        for tree in names_in(f"{layout.local}/me", layout.root):
            yield from identityfiles.keys_in(layout, tree).values()
    except WcError:
        return
