"""Reviews: snapshots of worktrees at each pass, what changed since the last one, and
the lines of a file that an entry is about.

Runs git in the code's repository. Never touches its index, its branches or a worktree.
"""
