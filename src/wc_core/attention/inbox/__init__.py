"""The inbox: what needs one participant, in all known stores on this machine.

`stores` lists the stores, `items` determines which threads of a store need the
participant, and `view` combines them. Only the threads that are shown
are read. Must not write, and must not know terminals.
"""
