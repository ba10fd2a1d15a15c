"""Searches: which entries match a query, and in which order they are shown.

`answers` makes the result of a question, which `query` describes. It uses an engine:
`indexed` asks the cache by `hits`, and reads the logs that the cache lacks by `scan`;
both find the same. `together` is the engine of several stores. `ranked` orders entries
by their texts.
"""
