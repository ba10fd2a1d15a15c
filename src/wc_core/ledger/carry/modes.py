"""Decides whether entries are carried, and harvested: carried automatically only from
agents' sessions in the cloud."""

from __future__ import annotations

from wc_core.base.sandboxes import current
from wc_core.ledger.configuration import preferences
from wc_core.ledger.configuration.keys import ASK, AUTO

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from wc_core.ledger.threads.settings import Settings

# The table of a preference that went; see `mode`.
FORMER_TABLE = "carry"


def is_agents(branch: str, patterns: Iterable[str]) -> bool:
    """Whether a branch is that of an agent: patterns have at most one ``*``, as those
    of git's refspecs."""
    return any(_matches(branch, pattern) for pattern in patterns)


def _matches(branch: str, pattern: str) -> bool:
    start, star, end = pattern.partition("*")
    if not star or "*" in end:
        return branch == pattern
    is_long = len(branch) >= len(start) + len(end)
    return is_long and branch.startswith(start) and branch.endswith(end)


def mode(rules: Settings, env: Mapping[str, str]) -> str:
    """Whether entries are carried.

    ``off``, ``ask``: only by ``wc sync --carry``, or ``auto``, which it is only in a
    sandbox, and only if writes are pushed without someone's word, too, and no older
    version's ``carry.mode`` is in the person's own file.
    """
    is_automatic = (
        rules.push
        and current(env) is not None
        and FORMER_TABLE not in preferences.load(env).fields
    )
    return ASK if rules.carry == AUTO and not is_automatic else rules.carry


def harvests(rules: Settings) -> bool:
    """Whether entries are taken from agents' branches without anyone's word."""
    return rules.carry == AUTO and rules.harvest and bool(rules.agents_branches)
