"""Wakes agents: the processes that wait for a session's balls, and the ways to call
each client.

Writes the files that `wc_core.attention.wake` reads. Must not know git or the network;
the only program it starts is the client's own.
"""
