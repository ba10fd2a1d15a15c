"""Notifications to a person: the events that trigger them, their texts.

Finds the events in the status files, and makes the texts. Knows no programs of a
desktop, and must not write.
"""
