"""Changing claims: compare-and-swap of git refs, all or none.

Uses `branch` to run git and `store` for locks and bytes. Must not know threads or the
command line: it gets the holder, the session and the targets.
"""
