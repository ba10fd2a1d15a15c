"""What threads wait for: the kinds of links between them, the graph that they make, and
which threads are ready to be worked on.

Everything here is a function of the threads' states. Must not read a file.
"""
