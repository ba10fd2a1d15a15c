"""Writes threads into a graph database, and compares the two.

Optional (`wc-watercooler[graphdb]`). `projecting` changes the graph, `comparing` finds
differences, `connection` is the only module that knows the client. The graph is derived
data: it can be deleted and made again from the stores.
"""
