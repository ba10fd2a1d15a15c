"""Notifications to a person: which targets they have, what calls them, in which words.

Parses targets, finds what calls a person from the status files, and makes the texts.
Knows neither the network nor the programs of a desktop, and must not write.
"""
