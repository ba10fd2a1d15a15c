"""The end of a session: what a participant still holds, and handing it over.

May use everything that claims and the store offer. Must not print: `wc wrap` and the
hooks do.
"""
