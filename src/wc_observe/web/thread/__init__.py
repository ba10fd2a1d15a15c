"""The page of a thread: its entries, and facts about the thread beside them.

`markdown` renders untrusted text, `highlight` colours code in it, `entries` draws
entries, `aside` the column beside them, and `page` combines them. Must not know HTTP.
"""
