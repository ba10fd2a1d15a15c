"""Stores as the server keeps them: in memory, watched for changes; and the queries to a
graph database.

May use `wc_core`. Must not know who calls.
"""
