"""The web page of `wc-observe web`: server-rendered pages with an event stream.

Uses `answers`, `watch`, and from `http` the code that opens a port and shuts down. All
HTML is made by `html`. Must not write, and needs no MCP client.
"""
