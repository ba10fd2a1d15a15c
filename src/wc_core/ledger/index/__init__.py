"""The cache of a store: what lists, searches and briefs read instead of every log.

It is computed from the logs, is on this machine only, and may be deleted at any time.
Here it is read; the command line writes it, in `wc_cli.ledger.index`. What it lacks is
read from the logs, so answers are the same without it.

This room knows how threads are read, but not who looks at them.
"""
