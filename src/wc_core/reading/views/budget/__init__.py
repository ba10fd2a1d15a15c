"""The size of answers: which of an answer's items are shown, and in which form.

Decides by the size of an item in characters, and its importance. Reads no files, and
does not know how the answer is written.
"""
