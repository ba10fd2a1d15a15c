"""The graph of which files of a worktree use which: computed from git and the worktree,
and stored.

The facts in each file are cached by blob id, so that only changed files are parsed. The
rules are in `wc_core.edits.graph`, which knows neither git nor the disk.
"""
