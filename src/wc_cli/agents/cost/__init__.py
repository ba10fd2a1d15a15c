"""Records what the work of agents costs, from hooks.

Uses `store` for bytes. Must not run a program or change anything but `.local/cost`.
"""
