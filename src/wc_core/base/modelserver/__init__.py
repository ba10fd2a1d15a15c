"""Requests to a server with OpenAI's API, which a person's preferences name.

This room uses the network. It knows nothing about entries, and contacts only the
address that it is given.
"""
