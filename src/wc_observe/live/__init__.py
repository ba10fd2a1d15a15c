"""Stores kept in memory.

Reads again what changed on disk. The rows of each viewer are cached as well. Must not
know clients or protocols.
"""
