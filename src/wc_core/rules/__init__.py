"""The rules that a repository sets for its threads: what each asks for.

`enforcing` decides about an entry that is to be written, `auditing` about threads as
they are. A rule never concerns what is read, merged or brought from a remote: two
clones that disagree about one lose no entry. Must not know disks: callers pass in what
is asked for.
"""
