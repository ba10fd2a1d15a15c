"""The planned changes to users' files, as values without effects.

A client's module declares its changes with them; `formats.edits` applies a change to a
text, `engine` and `workspace` apply them to files.
"""

from __future__ import annotations

import os
import shlex

from wc_cli.agents.launcher import is_ours, own_program
from wc_core.base.agents import AGENTS
from wc_core.base.values import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path
    from typing import Any


class Set(NamedTuple):
    """Set a key of a file in JSON, which may have comments, or in TOML; what is missing
    above it is created.

    An existing different value belongs to the user: the change is refused, unless
    ``compose(theirs)`` returns another value than ABSENT, which is the new one. Undoing
    restores theirs; in TOML, it must be theirs.
    """

    path: Path
    keys: tuple[str, ...]
    value: Any
    compose: Callable[[Any], Any] | None = None
    format: str = "json"


class Add(NamedTuple):
    """Add an item to an array of a file in JSON or TOML, unless the array has it."""

    path: Path
    keys: tuple[str, ...]
    value: Any
    format: str = "json"


class Block(NamedTuple):
    """Lines between two marking comments, at the end of a text file."""

    path: Path
    lines: tuple[str, ...]
    comment: str = "#"


class OwnFile(NamedTuple):
    """A file that belongs to wc alone."""

    path: Path
    text: str


Change = Set | Add | Block | OwnFile

PARTS = (
    *("server", "skill", "permissions", "tools", "hooks", "guard"),
    *("wake", "status-line", "prompt", "completion", "pages"),
)
# Installed with a client's first parts, later only on request.
OPTIONAL = ("wake",)


class Part(NamedTuple):
    """Changes that belong together: installed whole or not at all.

    ``name`` is one of `PARTS`; ``notes`` tell the user what is left to do. Unless all
    changes that it ``needs`` are in place, it is not installed, and removed if it was.
    """

    name: str
    changes: tuple[Change, ...]
    notes: tuple[str, ...] = ()
    needs: tuple[Change, ...] = ()


class InstallSite(NamedTuple):
    """Where to install.

    ``project`` is the root of the current worktree, ``store`` the folder of its store,
    ``scope`` "user" or "project". With ``has_full_paths``, our programs are started by
    their full paths even if PATH leads to them.
    """

    home: Path
    env: Mapping[str, str]
    platform: str
    project: Path | None
    store: Path | None
    scope: str = "user"
    has_full_paths: bool = False


class Client(NamedTuple):
    """A program that can be connected: an agent, an editor, a shell or a prompt.

    ``name`` is its word on the command line; for an agent, the ``client`` of its row in
    `wc_core.base.agents`. ``is_present`` returns whether the user has it.
    """

    name: str
    is_present: Callable[[InstallSite], bool]
    scopes: tuple[str, ...]
    parts: Callable[[InstallSite], tuple[Part, ...]]

    @property
    def title(self) -> str:
        """The program's usual name."""
        titles = (agent.name for agent in AGENTS if agent.client == self.name)
        return next(titles, self.name)


USER = ("user",)
USER_AND_PROJECT = ("user", "project")


def program(name: str, site: InstallSite) -> str:
    """The word with which a shell starts one of our programs: its bare name if PATH
    leads to ours, otherwise its full path, quoted."""
    path = launched(name, site)
    return name if path == name else shlex.quote(path)


def launched(name: str, site: InstallSite) -> str:
    """Like `program`, for callers that start it without a shell. A project's files are
    shared with others, so they contain no path of this machine."""
    return name if site.scope == "project" else executable(name, site)


def executable(name: str, site: InstallSite) -> str:
    """How this machine starts one of our programs without a shell."""
    installed = own_program(name)
    if site.has_full_paths:
        return installed or name
    for folder in site.env.get("PATH", "").split(os.pathsep):
        path = os.path.join(folder, name)
        if folder and os.path.isfile(path) and os.access(path, os.X_OK):
            return name if is_ours(path, name) else installed or name
    return installed or name
