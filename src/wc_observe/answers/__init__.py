"""The server's answers, each as text and as structured content.

Computes them from `live` and the views of wc_core; marks what others wrote. Must not
know MCP or HTTP.
"""
