"""One run of a command: its words, its store, the entry that it writes, what it prints,
and what it leaves to the background.

May use `bridges`, `edits` and `ledger`. Must not import the commands: `table` names
their modules.
"""
