"""Threads in the formats of other programs: JSON with everything, decision records, a
web page.

Everything here is a function of threads. Must not read or write a file.
"""
