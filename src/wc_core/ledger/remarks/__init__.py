"""Entries with a kind, which move no ball, and questions that someone has to answer:
their rules, and the words for them.

Everything here is a function of drafts, entries and states. Must not read a file.
"""
