"""Writing threads into a graph database, and comparing the two.

Optional (`wc-watercooler[graphdb]`). `projecting` changes the graph, `comparing` tells
what differs, `connection` is the only module that knows the client. The graph is
derived: it may be deleted, and is made again from the stores.
"""
