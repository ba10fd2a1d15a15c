"""git's own files, read without running git: configuration, refs, worktrees.

`discovery` finds the store that belongs to a folder. Must not know what is in a thread.
"""
