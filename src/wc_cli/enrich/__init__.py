"""What models add to entries: asking them, and keeping what they answered.

It runs when somebody asks for it, never on the way of a write or a read; `following`
alone runs in the background, and asks no server.
"""
