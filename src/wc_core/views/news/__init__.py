"""What happened since a moment, by thread: what changed, who wrote, what was decided,
and what the new entries say.

It reads whole threads and the summaries beside their logs, and knows nothing of how the
answer is shown.
"""
