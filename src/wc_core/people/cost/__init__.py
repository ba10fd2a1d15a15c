"""The cost of agents' work: tokens, turns and time by thread and holder.

Parses the records of clients, and reads what was counted on this machine. Must not
write, and knows neither hooks nor git.
"""
