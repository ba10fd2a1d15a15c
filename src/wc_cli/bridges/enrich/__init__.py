"""What models add to entries: asking them, and keeping their answers.

It runs on request and, in `following`, in the background after a write, never as part
of a write or a read.
"""
