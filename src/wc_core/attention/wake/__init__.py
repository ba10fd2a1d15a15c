"""Waking: which agent sessions wait for a ball, how they were woken, and how far a
ball's new holder has come with it.

Reads the small files that `wc_cli.agents.wake` writes on this machine, and the threads.
Must not know how a client is woken.
"""
