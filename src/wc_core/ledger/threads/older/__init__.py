"""Data that only the older tool writes: its settings.

Knows files as their contents. Nothing here is imported if that tool was never used.
"""
