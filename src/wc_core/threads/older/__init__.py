"""Data that only the older tool writes: its settings, and its moves outside the log.

Knows files as their contents. Nothing here is imported where that tool was never used.
"""
