"""The page of a thread: writing it as markdown, and reading entries from it again.

Knows entries and their state. Must not read a file.
"""
