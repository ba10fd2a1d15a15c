"""Puts a branch on another one: builds the commits, checks them in a worktree of wc's
own, moves the branch here and at a remote.

Never touches a person's work tree or index, except that of the branch that moves, and
there only what nobody has changed. Must not decide what lands, or write entries.
"""
