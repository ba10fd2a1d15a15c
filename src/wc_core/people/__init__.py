"""Who takes part: the author of a write, what other programs record about agents, and
what sessions cost.

May use `ledger` and `base`. Must not know the index.
"""
