"""The read-only MCP server."""
