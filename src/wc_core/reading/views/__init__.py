"""The values that the command, the server and the page all show.

Rows, search, history, statistics, the brief: values computed from `threads`. Must not
know terminals, HTML or MCP.
"""
