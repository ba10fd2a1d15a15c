"""Texts that agents get without asking: the brief, hooks and sessions.

Uses the views of wc_core and the context of a command. `dialects` is the only module
that knows the hook format of each client. Must not write to threads.
"""
