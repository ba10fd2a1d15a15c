"""The news since a given time, by thread: changes, authors, decisions, and summaries of
the new entries.

It reads whole threads and the summaries beside their logs, and does not know how the
answer is shown.
"""
