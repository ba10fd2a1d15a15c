"""The names of the server's tools.

The server offers these, ``wc install`` allows them without asking, and tests call
each of them.
"""

from __future__ import annotations

# The version changes before a promise about the tools does.
PREFIX = "watercooler_v1_"

TOOLS = (
    *("health", "whoami", "list_threads", "read_thread", "get_entry"),
    *("search_threads", "list_updates", "reindex", "list_vocabulary"),
    *("get_ball_history", "get_stats", "list_ready", "explain_readiness"),
    *("check_status", "list_claims", "list_activity", "get_neighbors"),
    *("list_worktrees", "get_conflicts", "get_loop_status", "get_team_status"),
)
