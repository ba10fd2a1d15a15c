"""Computes the radar with git: snapshots of worktrees, and the results of merging them.

Uses `branch` to run git and `store` for locks and bytes. Must not know threads or the
command line. Must not change a worktree, its index, or the repository's objects: git
writes snapshots below the store's ``.local``.
"""
