"""The changes of `wc install` to other programs' files, and how to undo them.

Clients declare their changes as values, `formats` applies a change to a text, and
`workspace`, `engine` and `ledger` write whole parts and record them. Must not know
threads or a store.
"""
