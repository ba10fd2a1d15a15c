"""The keys of settings: what each is called, which values it takes, what it is for.

The table is the one place where a key is declared: reading a store's ``config.toml``,
``wc config`` and the documentation all use it. `preferences` reads what a person wants
for themselves. Must not know stores.
"""
