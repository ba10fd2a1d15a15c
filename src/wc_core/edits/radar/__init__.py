"""The radar: which files each worktree changes, and which pairs of them will conflict.

Its values, reading the file they are kept in, with its age, and in which order branches
that conflict land. Must not run git: that is `wc_cli.edits.radar`.
"""
