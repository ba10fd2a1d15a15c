"""Reviews: the rules for their outcomes, and which two points of the code to compare.

Everything here is a function of drafts, entries and states. Must not read a file.
"""
