"""Two histories made one: logs are united by entry id, other files merged three-way.

`plan` and `contents` are pure; `join` writes the merge commit through `branch`. Must
not know a folder on disk or a remote.
"""
