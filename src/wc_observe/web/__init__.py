"""The web page of `wc-observe web`: server-rendered pages with an event stream.

Uses `answers` and `live`; every piece of HTML is made by `html`. Must not write, and
needs no MCP client.
"""
