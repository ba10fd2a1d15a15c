"""The commands about what holds for everyone who works in a repository, and about
all repositories.

The same rules as for `commands`.
"""
