"""The server's answers, each as text and as structured content.

Computes them from wc_core's views, and marks what others wrote. Must not know MCP or
HTTP.
"""
