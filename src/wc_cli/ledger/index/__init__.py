"""Making and maintaining the index of a store: `wc_core.ledger.index` has its formats.

The process that settles writes the index after the logs, and builds it if it is
missing. Nothing waits for the index or depends on it: whatever cannot be written here
is read from the logs. This room knows the files of the index and their lock; it knows
neither git nor the callers.
"""
