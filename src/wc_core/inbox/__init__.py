"""The inbox: what needs one participant, in all stores of this machine that are known.

`stores` lists the stores, `items` says which threads of one need the participant, and
`view` puts these together. Finding them takes the names of the status line's files;
only the threads that are shown are read. Must not write, and must not know terminals.
"""
