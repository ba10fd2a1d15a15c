"""Writing the log of what participants are doing, and exchanging it with a remote.

Keeps the last state of a worktree's loop for its prompt. Uses the wire of
`wc_cli.ledger.sync` and the lock of the log. Must not touch threads.
"""
