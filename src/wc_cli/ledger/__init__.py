"""All that changes a store, its branch and its remote, from one flushed line up to an
exchange.

May use `wc_core` alone. Must not know which command is running.
"""
