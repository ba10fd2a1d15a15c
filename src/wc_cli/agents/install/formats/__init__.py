"""Edits to settings files as text: JSON, JSON with comments, TOML and shell blocks.

Text in, text out: every byte outside the change stays as it was. Must not know files or
clients.
"""
