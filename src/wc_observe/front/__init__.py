"""Answers every client's first requests while FastMCP is still loading.

Importing FastMCP takes up to 1 s, and a client may wait less than that before it lists
the tools for its model. This room answers ``initialize``, ``server/discover``, ``ping``
and the lists that are the same in every store within 0.2 s, from a file generated from
FastMCP's answers (`firstanswers`). Everything else waits, in order, for the real
server, which then gets the handshake and all waiting messages (`opening`).

It never guesses: it leaves any unusual message to the real server, and everything if
the libraries' versions differ from those that the file was generated with. It may use
`wc_core`, `clients`, standard input and output. It must not know FastMCP, stores or
calls.
"""
