"""The commands that read threads: one, many, what is found in them, what is new."""
