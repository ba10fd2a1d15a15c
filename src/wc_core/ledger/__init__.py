"""Threads and their rules: logs, the ball, plans, settings, and git's own files.

May use `base`. Must not know the index, who reads, or who edits what.
"""
