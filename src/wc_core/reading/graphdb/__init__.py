"""The graph database: the threads of many repositories in one graph.

Optional. `nodes` makes the nodes and edges of a thread, `schema` has their names and
indexes, `address` parses the graph's address, `identity` determines the repository of a
store. `connecting` connects, and sends nothing: the command line writes the graph, in
`wc_cli.bridges.graphdb`, and the server reads it, in `wc_observe.stores.graphdb`.
"""
