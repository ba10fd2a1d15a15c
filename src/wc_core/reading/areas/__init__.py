"""Areas of a repository, as defined in its settings, and which threads belong to them.

A thread belongs to an area because of the files and the branch that it is about;
nothing of this is stored. Must not know what is shown.
"""
