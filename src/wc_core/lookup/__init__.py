"""What can be searched for: the words of texts and queries, what entries mention, and
how they are ranked.

May use `ledger` and `base`. Knows entries, but not which threads exist nor how they are
read: `wc_core.reading.views.search` searches.
"""
