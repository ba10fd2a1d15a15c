"""Computing the radar with git: snapshots of worktrees, and what merging them gives.

Uses `branch` to run git and `store` for locks and bytes. Must not know threads, nor how
a command is written. Must not change a worktree, its index, or the objects of the
repository: what git writes for a snapshot is below ``.local`` of the store.
"""
