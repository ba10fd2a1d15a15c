"""Starts agents for their balls: which, where, with which prompt, and what became of
it.

Only ``wc run`` uses it: hooks, helpers, the server and a sync start no agent. Must not
take a command, an argument or a variable from a repository.
"""
