"""What lists and searches use instead of reading every log: the index, and the words of
texts and queries.

May use `ledger` and `base`. Must not know who reads the results.
"""
