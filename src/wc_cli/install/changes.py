"""What is to be changed in people's files: values, without doing anything.

A client's module says what it wants by these; `editing` changes texts by them,
`engine` the files.
"""

from __future__ import annotations

import os
import shlex
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path


class JsonSet(NamedTuple):
    """Set one member of a JSON file, which may have comments; the objects above
    it are made.

    What is there with another value is somebody's: without ``compose`` the
    change is refused, with it the value is ``compose(theirs)``. Undoing brings
    theirs back.
    """

    path: Path
    keys: tuple[str, ...]
    value: Any
    compose: Callable[[Any], Any] | None = None


class JsonAdd(NamedTuple):
    """See to it that an array of a JSON file has an item."""

    path: Path
    keys: tuple[str, ...]
    item: Any


class TomlSet(NamedTuple):
    """Set one key of a TOML file; a dictionary becomes a table. What is there
    with another value is somebody's: if it is ``enough``, it stays as it is, else
    the change is refused."""

    path: Path
    keys: tuple[str, ...]
    value: Any
    enough: Callable[[Any], bool] | None = None


class TomlAdd(NamedTuple):
    """See to it that an array of a TOML file has an item."""

    path: Path
    keys: tuple[str, ...]
    item: Any


class Block(NamedTuple):
    """Lines between two marking comments, at the end of a text file."""

    path: Path
    lines: tuple[str, ...]
    comment: str = "#"


class OwnFile(NamedTuple):
    """A file that is ours alone."""

    path: Path
    text: str


Change = JsonSet | JsonAdd | TomlSet | TomlAdd | Block | OwnFile

PARTS = ("server", "skill", "permissions", "hooks", "status-line", "prompt")


class Part(NamedTuple):
    """What belongs together: it is installed whole or not at all.

    ``name`` is one of `PARTS`; ``notes`` say what the person has to do.
    """

    name: str
    changes: tuple[Change, ...]
    notes: tuple[str, ...] = ()


class InstallSite(NamedTuple):
    """Where we install: ``project`` is the root of the worktree we are in,
    ``store`` the folder of its store, ``scope`` "user" or "project"."""

    home: Path
    env: Mapping[str, str]
    platform: str
    project: Path | None
    store: Path | None
    scope: str = "user"


class Client(NamedTuple):
    """A program that can be connected, by the name people give it here."""

    name: str
    title: str
    found: Callable[[InstallSite], bool]
    scopes: tuple[str, ...]
    parts: Callable[[InstallSite], tuple[Part, ...]]


# Said by the second line of every copy of our launcher.
_MARK = "watercooler-launcher"


def program(name: str, surroundings: InstallSite) -> str:
    """The word by which a shell starts one of our programs: its bare name, if that
    finds ours on PATH, else its whole path, quoted."""
    path = executable(name, surroundings)
    return name if path == name else shlex.quote(path)


def executable(name: str, surroundings: InstallSite) -> str:
    """`program` for those who start it without a shell."""
    ours = beside(name)
    for folder in surroundings.env.get("PATH", "").split(os.pathsep):
        path = os.path.join(folder, name)
        if folder and os.path.isfile(path) and os.access(path, os.X_OK):
            return name if is_ours(path, name) else ours or name
    return ours or name


def beside(name: str) -> str:
    """The program of that name which was installed with this Python, or ``""``."""
    import sys

    for folder in (os.path.dirname(sys.executable), os.path.dirname(sys.argv[0])):
        path = os.path.join(os.path.abspath(folder), name)
        if folder and os.path.isfile(path) and os.access(path, os.X_OK):
            return path
    return ""


def is_ours(path: str, name: str) -> bool:
    """Whether a program found under one of our names is ours: only ``wc`` is a
    name that others have."""
    if name != "wc":
        return True
    try:
        with open(path, "rb") as file:
            return _MARK.encode() in file.read(200)
    except OSError:
        return False
