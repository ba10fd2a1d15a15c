"""Pictures: a timeline, which files use which, and what waits for what.

What is drawn comes from the views beside it. Must not read a file.
"""
