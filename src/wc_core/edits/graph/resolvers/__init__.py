"""Resolves imports to files of the repository, with one module per language.

A resolver gets all files of its language, and yields the files that one of them uses.
Imports from outside the repository are ignored.
"""
