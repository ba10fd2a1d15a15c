"""The page of a thread: its entries, and beside them what is known about it.

`markdown` renders untrusted text, `highlight` colours code in it, `entries` draws
entries, `aside` the column beside them, and `page` puts them together. Must not know
HTTP.
"""
