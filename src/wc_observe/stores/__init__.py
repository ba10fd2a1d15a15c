"""Noticing changes in stores, and the queries to a graph database.

May use `wc_core`. Must not know who calls.
"""
