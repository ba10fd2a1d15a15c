"""Before and after an entry is written: its text, settling and exchanging, the receipt.

May use what is below `context`. Must not know the commands, nor how their arguments are
declared. A failure after the append becomes a note in the receipt.
"""
