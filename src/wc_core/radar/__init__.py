"""The radar: which worktrees change the same files, and where they will conflict.

The values of a report, and reading the one that was kept last. Runs nothing and writes
nothing: `wc_cli.radar` makes the reports.
"""
