"""What entries mean, as vectors: for searches that the words do not answer.

A model makes a vector of each entry's text; texts of the same meaning have vectors of
nearly the same direction. The model is on this machine, or a server that a person's
preferences name. The vectors are in a file of this machine that may be deleted at any
moment. Here it is read; the command line writes it, in `wc_cli.enrich`.

This room knows entries and how threads are read. `embedding` asks a server, and only
if a person's preferences name one. NumPy and the tokenizer take long to import: so do
`scoring`, `localmodel`, `embedding` and `nearest`, which others import only to search.
"""
