"""Lean forms of modules of the standard library that take milliseconds to import.

Half of what a command costs is the start of its process. Each module here has the name
of the one it replaces, and does the same in the ways that commands use; for everything
else, it imports that one. `tests/core/test_lean.py` compares them.

Each says what it gains: how much longer a command would take with the original, which
was measured with Python 3.11 on a machine where `python -c pass` takes 8 ms. A module
that gains less than 1 ms does not belong here; docs/decisions/0009 says when to remove
one. They may use nothing but Python itself.
"""
