"""Two histories made one: logs are united by entry id, other files merged three-way.

`logs`, `threads`, `contents` and `threeway` are pure. `plan` reads the trees, `join`
writes the merge commit through `branch`. Must not know a folder on disk or a remote.
"""
