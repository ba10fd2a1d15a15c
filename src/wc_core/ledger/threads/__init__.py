"""Entries, the fold, the rules of the ball, and reading them from a store.

`model` and `moves` are pure. `reader` returns damage as a value beside the good
content. Must not write, and must not know how a thread is shown.
"""
