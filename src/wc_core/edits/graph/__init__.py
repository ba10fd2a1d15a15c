"""What source files define, and which files of a repository use each other.

Files are parsed by tree-sitter, an optional dependency: without it, nothing is known
and nothing is guessed. Must not read a file or run git: `wc_cli.edits.graph` does.
Reads the stored graph, for the server.
"""
