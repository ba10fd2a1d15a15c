"""The store's branch, by git plumbing: commits, trees, packs and checkouts.

The only room that runs git on a store. Uses `store` for locks and bytes. Must not know
what a merge decides, when a commit is due, or which remotes exist.
"""
