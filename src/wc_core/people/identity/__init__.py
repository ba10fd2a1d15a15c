"""The name of the caller, `Agent@seat (tag)`, and the rule that determined it.

Uses names, the table of agents and git's settings. Must not read threads:
`viewer` judges the states and cursors it is given.
"""
