"""The graph database: what the threads of many repositories are in one graph.

Optional. `nodes` makes the nodes and edges of a thread, `schema` has their names and
indexes, `address` reads where the graph is, `identity` says which repository a store
belongs to. `connecting` connects, and sends nothing: the command line writes the graph,
in `wc_cli.graphdb`, and the server reads it, in `wc_observe.graphdb`.
"""
