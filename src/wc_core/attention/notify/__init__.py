"""Notifications to a person: their targets, the events that trigger them, their texts.

Parses targets, finds the events in the status files, and makes the texts. Knows neither
the network nor the programs of a desktop, and must not write.
"""
