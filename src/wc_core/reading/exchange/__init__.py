"""Threads as JSON with everything, and issues of other trackers as threads.

Everything here is a function of threads. Must not read or write a file.
"""
