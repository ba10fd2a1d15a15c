"""Notifies a person: on their desktop, in their terminals, through webhooks.

What to say is decided in `wc_core.notify`. A notification that fails is repeated later
and never fails a command.
"""
