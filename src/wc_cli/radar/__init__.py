"""Makes the reports of the radar: snapshots of worktrees, and trial merges of them.

Uses `branch` to run git and `store` to keep the last report. Never touches the index,
the files or the branches of a worktree: it only adds objects.
"""
