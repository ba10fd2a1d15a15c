"""Who is asking: `Agent@seat (tag)`, and by which rule that was decided.

Uses names, the table of agents and git's settings. Must not know a store's threads
beyond the settings that name people.
"""
