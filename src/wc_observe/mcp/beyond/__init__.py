"""Searches, of one store and beyond, and the other tools that look beyond one store:
into all that the caller may see, or into a graph database.

Like the other tools they are a few lines each; `wc_observe.answers` answers.
"""
