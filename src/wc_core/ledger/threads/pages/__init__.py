"""The page of a thread: writes it as markdown, and reads entries from it.

Knows entries and their state. Must not read a file.
"""
