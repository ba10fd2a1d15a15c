"""The changes of `wc install` to other programs' files, and how they are undone.

Clients declare their changes as values, `formats` applies one change to one text, and
`workspace`, `engine` and `ledger` write whole parts and remember them. Must not know
threads or a store.
"""
