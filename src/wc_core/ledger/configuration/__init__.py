"""The keys of settings: their names, allowed values and descriptions.

The table is the one place where a key is declared: reading a store's ``config.toml``,
``wc config`` and the documentation all use it. `preferences` reads a person's own file.
Must not know stores.
"""
