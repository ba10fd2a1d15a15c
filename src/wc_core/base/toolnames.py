"""The names of the server's tools.

The server offers these, ``wc install`` allows them without asking, and tests call each
of them.
"""

from __future__ import annotations

from types import MappingProxyType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

# The version changes before a promise about the tools does.
PREFIX = "watercooler_v1_"

TOOLS = (
    *("health", "whoami", "list_threads", "read_thread", "list_updates"),
    *("search_threads", "reindex", "get_stats", "check_status", "list_edits"),
    *("get_neighbors", "list_worktrees"),
)

# Only for a server started with --all-stores or --graph. They look beyond one
# repository, so ``wc install`` does not allow them.
ALL_STORES_TOOLS = ("list_inbox",)

# Names of tools of other servers of this kind, and of earlier versions of this one, and
# what does the same here: a command, or a tool by its name without the prefix.
INSTEAD = MappingProxyType(
    {
        "say": "wc say TOPIC -m TITLE -b TEXT",
        "ack": "wc ack TOPIC -m TITLE",
        "handoff": "wc handoff TOPIC --to NAME -m NOTE",
        "set_status": "wc set-status TOPIC STATUS",
        "create_thread": "wc new TOPIC -m TITLE",
        "break_lock": "wc break-lock TOPIC",
        "post_status": "wc claim PATH, and afterwards: wc release PATH",
        "post_activity": "wc note TEXT --scope PATH",
        "list_statuses": "health(vocabulary=true)",
        "list_roles": "health(vocabulary=true)",
        "list_thread_entries": "read_thread(topic)",
        "get_thread_entry": "read_thread(topic, entry)",
        "get_graph": "get_neighbors(target)",
        "search": "search_threads(query)",
        "list_related": "search_threads(query)",
        "get_entry": "read_thread(topic, entry)",
        "list_vocabulary": "health(vocabulary=true)",
        "get_ball_history": "get_stats(topic)",
        "list_ready": "list_threads(ready=true)",
        "explain_readiness": "read_thread(topic, why_not_ready=true)",
        "list_claims": "list_edits()",
        "list_activity": 'list_edits(show="activity")',
        "get_conflicts": 'list_edits(show="conflicts")',
        "get_loop_status": "list_worktrees()",
        "get_team_status": "list_worktrees()",
    }
)

# The command whose guidance a tool also shows, because both answer the same.
OCCASIONS = MappingProxyType(
    {
        "health": "whoami",
        "whoami": "whoami",
        "list_threads": "list",
        "read_thread": "read",
        "list_updates": "updates",
        "search_threads": "search",
        "reindex": "reindex",
        "get_stats": "stats",
        "check_status": "check",
        "list_edits": "claims",
        "get_neighbors": "neighbors",
        "list_worktrees": "worktrees",
    }
)

# Tools that do what another command does if called with this argument.
OCCASIONS_BY_ARGUMENT = MappingProxyType(
    {
        ("list_threads", "ready", True): "ready",
        ("read_thread", "why_not_ready", True): "why",
        ("list_edits", "show", "conflicts"): "conflicts",
    }
)


def occasion_of(tool: str, arguments: Mapping[str, Any]) -> str:
    """Returns the command whose guidance a call shows; empty for none."""
    for (name, argument, value), occasion in OCCASIONS_BY_ARGUMENT.items():
        if name == tool and arguments.get(argument) == value:
            return occasion
    return OCCASIONS.get(tool, "")
