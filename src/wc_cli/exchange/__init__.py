"""Writing what was imported into the logs of threads.

Each thread is written under its lock, by the means of the store. Must not read a
format.
"""
