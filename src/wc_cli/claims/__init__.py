"""Changing claims: compare-and-swap of git refs, all of a set or none.

Uses `branch` to run git and `store` for locks and bytes. Must not know threads, nor how
a command is written: it gets the holder, the session and the targets.
"""
