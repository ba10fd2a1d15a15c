"""Entries with a kind, which move no ball: their rules, and the words for them.

Everything here is a function of drafts and entries. Must not read a file.
"""
