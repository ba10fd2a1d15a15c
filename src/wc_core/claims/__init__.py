"""Claims: who says that they edit what, as git refs that any clone can read.

What a claim is about, its record, reading it from git's files without running git,
and when it has expired. Must not change a ref: that is `wc_cli.claims`.
"""
