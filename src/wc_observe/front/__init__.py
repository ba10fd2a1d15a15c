"""Answers what every client asks first while FastMCP is still loading.

Importing FastMCP takes up to 1 s, and a client may wait less than that before it tells
its model which tools there are. This room answers ``initialize``, ``server/discover``,
``ping`` and the lists that are the same in every store within 0.2 s, from a file that
is generated from what FastMCP answers (`declared`). Everything else waits, in order,
for the real server, which is then given the handshake and all that waited (`desk`).

It never guesses: a message that is unusual in any way is left to the real server, and
so is everything if the libraries have other versions than those that the file was
generated with. It may use what `wc_core` and `clients` know, and the standard input and
output. It must not know FastMCP, stores or calls.
"""
