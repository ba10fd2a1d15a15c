"""The index of a store: facts about its threads, stored so that lists and searches need
not read every log.

It is computed from the logs, is on this machine only, and may be deleted at any time.
Here it is read; the command line writes it, in `wc_cli.ledger.index`. A thread's part
counts only while the thread's files are those that it was computed from; for every
other thread, the files are read. So the result is the same with an index, with an
outdated or damaged one, and without.

This room knows how threads are read, but not who looks at them.
"""
