"""The commands about questions and other remarks, which move no ball.

Each parses, asks and prints, as all commands do; `wc_core.ledger.remarks` has the
rules. Must not change a file except through the writer.
"""
