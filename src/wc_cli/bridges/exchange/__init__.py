"""Writes imported entries into the logs of threads.

Each thread is written under its lock, with the functions of `store`. Must not parse a
format.
"""
