"""The line at the prompt, and the small files behind it.

`bin/wc-statusline` reads the same files; tests compare both. Must not read a log: the
writer updates the files.
"""
