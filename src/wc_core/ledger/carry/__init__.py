"""Entries that travel with an agent's branch of the code, because their clone cannot
push the branch of the threads.

In a cloud session, an agent may push only its own branch, or nothing at all. There, a
*carrier* takes the entries: a commit on the agent's branch that changes no file and has
the entries in its message, or, in a clone without a remote, an *outbox*, a file in the
work tree. Other clones *harvest* them from the branches of agents. An entry has an id
and is the same wherever it was found, so it may arrive twice, in any order.

Nothing here runs git or writes: `wc_cli.bridges.carry` does.
"""
