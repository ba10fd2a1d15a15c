"""What happens before and after an entry is written: its text, the lines of a file that
it is about, settling, exchanging, the receipt.

May use what is below `context`. Must not know the commands or how their arguments are
declared. A failure after the append becomes a note in the receipt.
"""
