"""Exchanges the branch with its remote: fetch, join, push, and the possible errors.

The only room that uses the network, always through git and never with a prompt. Uses
`settle` and the rooms below it. Must not know how a result is printed.
"""
