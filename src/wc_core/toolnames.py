"""The names of the server's tools.

The server offers these, ``wc install`` allows them without asking, and tests call each
of them.
"""

from __future__ import annotations

from types import MappingProxyType

# The version changes before a promise about the tools does.
PREFIX = "watercooler_v1_"

TOOLS = (
    *("health", "whoami", "list_threads", "read_thread", "get_entry"),
    *("search_threads", "list_updates", "reindex", "list_vocabulary"),
    *("get_ball_history", "get_stats", "list_ready", "explain_readiness"),
    *("check_status", "list_claims", "list_activity", "get_neighbors"),
    *("list_worktrees", "get_conflicts", "get_loop_status", "get_team_status"),
)

# Only for a server started with --all-stores or --graph. They look beyond one
# repository, so ``wc install`` does not allow them.
ALL_STORES_TOOLS = ("list_inbox", "list_related")

# The command whose guidance a tool also shows, because both answer the same.
OCCASIONS = MappingProxyType(
    {
        "health": "problems",
        "whoami": "whoami",
        "list_threads": "list",
        "read_thread": "read",
        "get_entry": "read",
        "list_updates": "updates",
        "search_threads": "search",
        "reindex": "reindex",
        "get_ball_history": "stats",
        "get_stats": "stats",
        "list_ready": "ready",
        "explain_readiness": "why",
        "check_status": "check",
        "list_claims": "claims",
        "list_activity": "activity",
        "get_neighbors": "neighbors",
        "list_worktrees": "worktrees",
        "get_conflicts": "conflicts",
        "get_loop_status": "worktrees",
        "get_team_status": "worktrees",
    }
)
NO_OCCASION = MappingProxyType({"list_vocabulary": "it needs no store"})
