"""The commands about what holds for everyone who works in a repository.

The same rules as for `commands`.
"""
