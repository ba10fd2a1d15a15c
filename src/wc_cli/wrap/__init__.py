"""The end of a session: what somebody still holds, and passing it on.

May use everything that claims and the store offer. Must not print: `wc wrap` and the
hooks do.
"""
