"""The cost of agents' work: tokens, turns and time by thread and holder.

Parsing what clients record, and reading what was counted on this machine. Must not
write, and knows neither hooks nor git.
"""
