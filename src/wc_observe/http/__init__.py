"""The HTTP transport: where it listens, who may call, and how much they may take.

Optional (`wc-watercooler[http]`). Must not know what a tool answers.
"""
