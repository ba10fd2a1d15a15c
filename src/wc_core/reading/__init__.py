"""What is computed from threads for those who read them: views, exports, a graph
of many repositories, and what is near in meaning.

May use every wing below. Must not know terminals, HTML or MCP.
"""
