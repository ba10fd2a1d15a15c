"""Finds damage in a store, and repairs it without losing a byte.

Uses the rooms from `store` to `settle`. Findings are values; only `repair` acts on
them. Must not know how a finding is printed.
"""
