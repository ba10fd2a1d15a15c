"""Some entries of a thread as they are shown: which ones, and whether that needs the
whole log.

The result is the same as from the whole thread. This room knows entries with their
positions and corrections, but not how they are printed.
"""
