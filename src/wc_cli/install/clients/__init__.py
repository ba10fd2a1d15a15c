"""One module for each agent, and one for all shells: where its settings are and what
goes in.

Returns values of `wc_cli.install.changes` and changes no file. A new client is a
module here that is named after its word in `wc_core.agents`.
"""
