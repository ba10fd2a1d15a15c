"""Notifies a person: on their desktop, in their terminals, through webhooks.

`wc_core.attention.notify` decides what to send. A failed notification is retried later
and never fails a command.
"""
