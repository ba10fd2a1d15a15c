"""The commands about a repository's shared settings, and about all repositories.

The same rules as for `commands`.
"""
