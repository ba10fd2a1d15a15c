"""Some entries of a thread, read without decoding the others.

``meta.json`` has a *seal* of the log where every line of it is an entry and all are in
order: the checksum of its bytes, and what a reader would have to decode the whole log
for. A log whose bytes have that checksum is the one that was sealed, so its lines are
counted instead of decoded. Of every other log, all lines are read.

This room makes seals and reads by them. It does not know who looks at the entries, nor
how they are shown.
"""
