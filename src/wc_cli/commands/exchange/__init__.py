"""The commands about threads in files of other programs.

Each parses, asks and prints, as all commands do. Must not change a file of the store
except through the writer.
"""
