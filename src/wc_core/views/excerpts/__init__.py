"""Some entries of a thread as they are shown: which ones, and whether that takes the
whole log.

The answer is the same as from the whole thread. This room knows entries with their
positions and corrections, and leaves it to others how they are printed.
"""
