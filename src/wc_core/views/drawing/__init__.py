"""Pictures: a timeline, and which files use which.

What is drawn comes from the views beside it. Must not read a file.
"""
