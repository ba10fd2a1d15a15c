"""The commands about a session: how it ends, and what `wc run` starts.

Each parses, asks and prints, as all commands do. Must not change a file except through
the writer and the claims.
"""
