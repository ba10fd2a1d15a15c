"""What everything stands on: errors, values, names, times, texts, paths and files.

May use modules of the standard library that are quick to import. Must not read a
thread.
"""
