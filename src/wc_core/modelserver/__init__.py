"""Asking a server that speaks OpenAI's API, which a person's preferences name.

This room has a network, the only one in the core. It knows nothing of entries, and asks
only the address that it is given.
"""
