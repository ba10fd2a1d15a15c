"""What needs someone: the prompt's line, the inbox, waking, notifications.

May use `edits` and what is below. Must not know how threads are shown.
"""
