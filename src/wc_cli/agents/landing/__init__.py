"""Lands the branches of threads: which, in which order, and what each thread is told.

The git parts are in `wc_cli.edits.landing`. Must not take a command from a repository
that this person has not approved on this machine.
"""
