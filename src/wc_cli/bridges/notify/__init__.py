"""Notifies a person: on their desktop, and by a command of theirs.

`wc_core.attention.notify` decides what to send. A notification that fails is named by
``wc doctor``, is not tried again, and never fails a command.
"""
