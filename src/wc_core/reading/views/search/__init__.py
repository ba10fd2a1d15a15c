"""Searches: which entries match a query, and in which order they are shown.

`answers` has the query and its result. It uses an engine: `scan` reads the logs,
`indexed` uses the cache, which `hits` queries, and reads the logs that the cache lacks;
both find the same. `ranked` orders entries by their texts.
"""
