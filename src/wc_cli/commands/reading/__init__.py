"""The commands that read threads: one, many, what is found in them, what is new.

Each parses, asks and prints, as all commands do; `wc_core.views` does the work. Must
not write an entry.
"""
