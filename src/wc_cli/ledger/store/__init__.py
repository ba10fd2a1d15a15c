"""The bytes of a store and the locks that guard them.

The only room that changes files of a store (`durable`) and the only one that locks
(`locks`). `writer` holds the commit point of an entry. Must not run git or any other
program; `wc_core.ledger.git` reads what it needs from the repository.
"""
