"""Changes the links between threads.

Checks a change against the plan of the whole store, under the lock of linking. Must not
write an entry itself: `wc_cli.ledger.store.writer` does.
"""
