"""Edits to settings files as text: JSON, JSON with comments, TOML and shell blocks.

Text in, text out: every byte that is not part of the change stays as it was. Must not
know files or clients.
"""
