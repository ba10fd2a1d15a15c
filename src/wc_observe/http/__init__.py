"""The HTTP transport: where it listens, who may call, and how much they may use.

Optional (`wc-watercooler[http]`). Must not know tools or their answers.
"""
