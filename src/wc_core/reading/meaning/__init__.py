"""The meaning of entries, as vectors: for searches whose words find little.

A model makes a vector of each entry's text; texts with a similar meaning have vectors
of nearly the same direction. The model is on this machine, or a server in a person's
preferences. The vectors are in a file on this machine that may be deleted at any time.
Here it is read; the command line writes it, in `wc_cli.bridges.enrich`.

This room knows entries and how threads are read. `servermodel` sends text to a server
only if a person's preferences name one. NumPy and the tokenizer take long to import. So
do `scoring`, `servermodel`, `embedding` and `nearest`: others import them
only to search.
"""
