"""What MCP clients are offered: tools, resources, prompts.

Builds the server with FastMCP. Each tool is declared in a few lines; `answers` computes
its answer. Must not know HTTP.
"""
