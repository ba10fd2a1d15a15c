"""Starts agents in the cloud by their own command, and gets results that leave as a
diff.

Must not push code without the person's word, and must not touch their worktrees.
"""
