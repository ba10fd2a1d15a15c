"""Which files of a worktree use which: computed from git and the worktree, and kept.

What files say about themselves is cached by blob id, so that only what has changed is
parsed. The rules are in `wc_core.graph`, which knows neither git nor the disk.
"""
