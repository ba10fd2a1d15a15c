"""The index of a store: what its threads are, kept so that lists and searches need not
read every log.

It is made from the logs, is on this machine alone, and may be deleted at any moment.
Here it is read; the command line writes it, in `wc_cli.index`. A thread's part counts
only while the thread's files are those that it was made from; of every other thread,
the files are read. So an answer is the same with an index, with an old or a damaged
one, and without.

This room knows how threads are read. It does not know who looks at them.
"""
