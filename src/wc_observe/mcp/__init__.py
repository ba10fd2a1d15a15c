"""What MCP clients are offered: tools, resources, prompts, subscriptions.

The server itself is put together here, with FastMCP. Declares each tool in a few lines
and leaves the answer to `answers`. Must not know HTTP.
"""
