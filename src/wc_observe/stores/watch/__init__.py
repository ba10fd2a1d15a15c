"""Noticing that files changed.

`notifier` is the only module of the server that imports watchfiles. Must not know what
an answer looks like.
"""
