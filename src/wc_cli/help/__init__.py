"""The text of `wc help`: of all commands by group, and of each with examples.

docs/make_reference.py writes the texts for 80 columns to a file, so that ordinary help
needs neither Typer nor the modules of the commands. Only a narrower terminal does.
"""
