"""Keeps a store's folder and its branch in step.

Renders projections, commits what is on disk, and applies to the folder what the branch
gained elsewhere. Uses `merge`, `branch` and `store`. Must not use the network.
"""
