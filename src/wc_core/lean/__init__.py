"""Lean forms of modules of the standard library that take milliseconds to import.

Half of what a command costs is the start of its process. Each module here has the name
of the one it replaces, and does the same in the ways that commands use; for everything
else, it imports that one. `tests/core/test_lean.py` compares them.

It may use nothing but Python itself.
"""
