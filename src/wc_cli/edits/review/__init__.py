"""Reviews: snapshots of worktrees at each pass, and what changed since the last one.

Runs git in the code's repository. Never touches its index, its branches or a worktree.
"""
