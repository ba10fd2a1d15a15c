"""What is shown, the same to the command, the server and the page.

Rows, search, history, statistics, the brief: values computed from `threads`. Must not
know terminals, HTML or MCP.
"""
