"""Shell completion: the scripts for the shells, the words they offer, and the answers
to the shells.

It uses the declarations of the commands and what a store has: topics and names. It
knows nothing of Typer, and does not carry out commands.
"""
