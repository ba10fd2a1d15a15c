"""The plan: the kinds of links between threads, the graph that they form, and which
threads are ready.

Everything here is a function of the threads' states. Must not read a file.
"""
