"""The runs of agents that ``wc run`` started: reading their records.

May use threads and processes. Must not start or end anything.
"""
