"""One module for each agent, and one for all shells: where the settings are and what to
add.

Returns values of `wc_cli.agents.install.changes` and changes no file. A new client is a
module here, named after its word in `wc_core.base.agents`.
"""
