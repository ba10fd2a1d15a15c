"""Some entries of a thread, read without decoding the others.

``meta.json`` has a *seal* of the log if every line of it is an entry and all are in
order: the checksum of its bytes, and the facts that would otherwise require decoding
the whole log. A log whose bytes have that checksum is the one that was sealed, so its
lines are counted instead of decoded. In every other log, all lines are read.

This room makes seals and uses them for reading. It does not know who looks at the
entries, nor how they are shown.
"""
