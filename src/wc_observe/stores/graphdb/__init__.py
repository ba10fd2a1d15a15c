"""Queries of a graph database, which has the threads of many repositories.

Optional. `reader` is the only module with a connection, and sends only
``GRAPH.RO_QUERY``; `searching` and `waiting` query it. An unusable graph is
a `GraphAwayError`: callers then answer from the stores.
"""
