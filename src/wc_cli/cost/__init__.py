"""Recording what the work of agents costs, from hooks.

Uses `store` for bytes. Must not run a program, nor change anything but `.local/cost`.
"""
