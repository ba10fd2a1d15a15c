"""What agents may do without asking their person: `wc` commands that read, or
write entries, and the tools of a server that cannot write."""

from __future__ import annotations

from wc_cli import table

# Not among them: what reaches beyond the threads (install, doctor --repair,
# timeline, which writes a file wherever it is told to), and sync, whose first time
# shows the threads to whoever can read the remote.
COMMANDS = (
    *("say", "ack", "handoff", "take", "set-status", "new", "note"),
    *("list", "read", "search", "updates", "log", "stats", "seen"),
    *("brief", "wait", "problems", "reindex", "worktrees", "whoami", "help", "version"),
)

# All others. Some agents would run them without asking all the same, for they take
# `wc` for the program that counts words, and that one for harmless.
ASKED = tuple(
    one
    for one in (*table.COMMANDS, *table.ALIASES)
    if table.ALIASES.get(one, one) not in COMMANDS
)

SERVER = "watercooler"
# A test compares them with those of the server.
TOOLS = tuple(
    f"watercooler_v1_{name}"
    for name in (
        *("health", "whoami", "list_threads", "read_thread", "get_entry"),
        *("search_threads", "list_updates", "reindex", "list_vocabulary"),
        *("get_ball_history", "get_stats"),
        *("list_worktrees", "get_loop_status", "get_team_status"),
    )
)


def prefixes() -> tuple[str, ...]:
    """The beginnings of the command lines."""
    return tuple(f"wc {name}" for name in COMMANDS)


def pattern(names: tuple[str, ...] = COMMANDS) -> str:
    """A regular expression for the beginnings of the command lines, without
    look-around: Zed has none, and runs nothing at all while a pattern is wrong."""
    return rf"^wc\s+({'|'.join(names)})(\s|$)"
