"""The state files of other programs about agents, teams and loops.

Reads files that may be half-written and returns the last complete state. Must not read
threads.
"""
