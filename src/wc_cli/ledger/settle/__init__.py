"""Keeps a store's folder and its branch in sync.

Renders projections, commits the files on disk, and applies the branch's other changes
to the folder. Uses `merge`, `branch` and `store`. Must not use the network.
"""
