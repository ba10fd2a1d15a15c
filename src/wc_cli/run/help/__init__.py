"""The help: where to start, the groups of commands, and each command with examples.

It comes from the declarations of the commands, without Typer. docs/make_reference.py
writes the first sentence about each command and the examples to files, so that a list
of commands does not import them all.
"""
