"""Bridges to other programs and machines: imports, branches of cloud agents, a graph
database, model servers, and a person's notifications.

May use `ledger`. Must not know which command is running, or who edits what.
"""
