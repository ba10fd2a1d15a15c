"""The command line, as a process in real repositories."""
