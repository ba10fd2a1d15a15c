"""The commands about who edits what.

Each parses, asks and prints, as all commands do; `wc_cli.edits.claims` does the work.
Must not run git or change a file.
"""
