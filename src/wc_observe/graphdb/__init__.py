"""Asking a graph database, which has the threads of many repositories.

Optional. `reader` is the only module with a connection, and sends ``GRAPH.RO_QUERY``
alone; `searching`, `waiting` and `relating` ask. A graph that cannot be used is a
`GraphAwayError`: callers then answer from the stores.
"""
