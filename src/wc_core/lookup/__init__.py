"""What can be searched for.

May use `ledger` and `base`. Must not know who reads the results.
"""
