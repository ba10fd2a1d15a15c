"""Who edits what: claims, the radar, activity, reviews, and what source files define
and use.

May use `people` and what is below. Must not know who is notified of it.
"""
