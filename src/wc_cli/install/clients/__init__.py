"""One module for each client or shell: where its settings are and what goes in.

Returns values of `wc_cli.install.changes` and touches no file. A new client is a module
here, a row in `registry` and a row in `wc_core.identity.agents`.
"""
