"""The radar: which files each worktree changes, and which pairs of them will conflict.

Its values, and reading the file they are kept in, with its age. Must not run git: that
is `wc_cli.edits.radar`.
"""
