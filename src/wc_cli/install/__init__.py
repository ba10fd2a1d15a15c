"""Connecting agents, editors and shells: what is put into their files, and taken
out again."""
