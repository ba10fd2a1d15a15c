"""Merges two histories: logs are united by entry id, other files merged three-way.

`logs`, `threads`, `contents` and `threeway` are pure. `plan` reads the trees, `join`
writes the merge commit through `branch`. Must not know any folder on disk, or remotes.
"""
