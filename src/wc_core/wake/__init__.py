"""Waking: which sessions of agents wait for a ball, what was done to wake them, and how
far a ball's new holder has come with it.

Reads the small files that `wc_cli.wake` keeps on this machine, and the threads. Must
not know how a client is woken.
"""
