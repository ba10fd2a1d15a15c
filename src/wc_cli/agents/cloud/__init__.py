"""What ``wc cloud`` prints: the files with which an agent's place in the cloud, or in a
container, gets wc, and where they go.

The files are in ``docs/examples`` too, which docs/make_reference.py writes.
"""
