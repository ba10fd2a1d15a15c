"""The news since a moment, by thread: changes, authors, decisions, and summaries of the
new entries.

It reads whole threads and the summaries beside their logs, and knows nothing of how the
answer is shown.
"""
