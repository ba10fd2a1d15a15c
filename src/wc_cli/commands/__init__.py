"""The commands: one module per family. Each command parses, asks and prints.

May use every room below. A rule that a second command needs does not belong here.
Errors for the user are raised and left to `main`, which prints them all.
"""
