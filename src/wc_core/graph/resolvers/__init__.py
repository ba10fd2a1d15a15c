"""Resolves imports to files of the repository, with a module for each language.

A resolver is made of all files of its language, and yields the files that one of them
uses. What is not in the repository is left out.
"""
