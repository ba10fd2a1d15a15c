"""What model servers add to entries: asking them, and keeping what they answered.

It runs when somebody asks for it, never on the way of a write or a read. `endpoint` is
the one module that talks to a server.
"""
