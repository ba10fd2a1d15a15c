"""Data that only the older tool writes: its settings, and its moves outside the log.

Knows files as their contents. Nothing here is imported if that tool was never used.
"""
