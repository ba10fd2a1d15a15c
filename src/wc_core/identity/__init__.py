"""Who is asking: `Agent@seat (tag)`, and by which rule that was decided.

`agents` is the table of every agent we know. Must not know a store's threads beyond the
settings that name people.
"""
