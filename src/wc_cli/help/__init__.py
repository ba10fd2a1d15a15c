"""The help: an overview of all commands by group, and each command with examples.

docs/make_reference.py writes the texts for 80 columns to a file, so that ordinary help
needs neither Typer nor the modules of the commands. In a narrower terminal, Typer
writes the help of a command.
"""
