"""The store's folder and its branch, brought into step.

Renders projections, commits what is on disk, and takes into the folder what the branch
gained without it. Uses `merge`, `branch` and `store`. Must not use the network.
"""
