"""The commands about plans: what threads wait for.

Each parses, asks and prints, as all commands do; `wc_core.ledger.planning` has the
rules. Must not change a file except through the writer.
"""
