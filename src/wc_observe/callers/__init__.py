"""Who calls, from which folder, and which stores the caller may read.

May use `stores`. Must not know MCP, HTTP or what is answered.
"""
