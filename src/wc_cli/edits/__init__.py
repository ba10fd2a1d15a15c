"""Who edits what, kept for all worktrees and clones: claims, the radar, activity,
reviews, and the graph of the source.

May use `ledger`. Must not know which command is running, or other programs.
"""
