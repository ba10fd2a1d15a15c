"""Notifications to a person: the events that trigger them, their texts.

Finds the events by the balls of the store, and makes the texts. Knows no programs of a
desktop, and must not write.
"""
