"""Recognizes our programs: ``wc`` is also the name of the system's word count."""

from __future__ import annotations

import os
import sys

# In the second line of every copy of our launcher.
_MARK = b"watercooler-launcher"


def own_program(name: str) -> str:
    """The program of this name that was installed with this Python, or ``""``."""
    for folder in (os.path.dirname(sys.executable), os.path.dirname(sys.argv[0])):
        path = os.path.join(os.path.abspath(folder), name)
        if folder and os.path.isfile(path) and os.access(path, os.X_OK):
            return path
    return ""


def is_ours(path: str, name: str) -> bool:
    """Return whether a program found under one of our names is ours. Only ``wc`` is
    also the name of another program."""
    if name != "wc":
        return True
    try:
        with open(path, "rb") as file:
            return _MARK in file.read(200)
    except OSError:
        return False
