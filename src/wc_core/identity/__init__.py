"""Who is asking: `Agent@seat (tag)`, and by which rule that was decided.

Uses names, the table of agents and git's settings. Must not read threads:
`viewer` judges the states and cursors it is given.
"""
