"""Reads stores, threads and entries. Cannot write."""
