"""Pictures: which files use which, and which threads wait for which.

Draws the data of the views. Must not read a file.
"""
