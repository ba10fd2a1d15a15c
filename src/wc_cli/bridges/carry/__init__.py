"""Carries entries on an agent's branch of the code, and harvests them from there.

`carrying` makes carriers in a clone that cannot push the branch of the threads,
`harvesting` takes entries from the branches of agents. The formats, and why there are
any, are in `wc_core.ledger.carry`. Carrying never uses the network, and never pushes.
"""
