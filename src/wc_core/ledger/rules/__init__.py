"""The rules that a repository sets for its threads.

`enforcing` decides about an entry before it is written, `auditing` about existing
threads. A rule never affects reading, merging or fetching: two clones that disagree
about a rule lose no entry. Must not know disks: callers pass in the data.
"""
