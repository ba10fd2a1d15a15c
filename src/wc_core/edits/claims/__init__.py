"""Claims: who edits what, as git refs that any clone can read.

The targets and records of claims, reading them from git's files without running git,
and their expiry. Must not change a ref: `wc_cli.edits.claims` does that.
"""
