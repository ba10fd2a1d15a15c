"""The line at the prompt, and the small files behind it.

`bin/wc-statusline` prints lines that were kept. Must not read a log: the writer updates
the files.
"""
