"""What models add to entries: asking them, and keeping their answers.

It runs only on request, never as part of a write or a read; only `following` runs in
the background, and it asks no server.
"""
