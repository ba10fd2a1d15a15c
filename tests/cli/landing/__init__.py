"""`wc land`, with real branches, worktrees and remotes."""
