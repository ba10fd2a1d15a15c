"""Stores kept in memory, and their full-text index.

Reads again what changed on disk. `fulltext` is the only module with a database, which
is in memory. The rows of each viewer are cached as well. Must not know clients or
protocols.
"""
