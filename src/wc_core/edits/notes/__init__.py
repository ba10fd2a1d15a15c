"""What participants say that they are doing.

Reads notes, which are entries of a thread of their own. Must not write.
"""
