"""Stores kept in memory.

Reads changed files again. Also caches the rows of each viewer. Must not know clients or
protocols.
"""
