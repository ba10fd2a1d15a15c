"""The programs that are started: where they are found, and the words of our own.

A work tree holds whatever was pushed to it. So nothing that we start comes from the
current folder: no program by an entry of PATH such as ``.``, and no module of Python.
"""

from __future__ import annotations

import errno
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

# The folders of modules, in the environment of Python.
_FOLDERS = ("PYTHONPATH", "PYTHONHOME", "PYTHONUSERBASE", "PYTHONPYCACHEPREFIX")
# Without garbage collection while the modules are imported, as in `wc_cli.start`.
_PROGRAM = "import gc; gc.set_threshold(20_000); from {} import main; main()"
_WITH_FOLDERS = "import sys; sys.path += {}; {}"


def absolute_path(env: Mapping[str, str]) -> str:
    """The PATH of an environment without the entries that depend on the current folder:
    relative and empty ones."""
    return os.pathsep.join(_absolute(env.get("PATH", os.defpath)))


def find_program(env: Mapping[str, str], name: str) -> str:
    """The path of a program in `absolute_path`; empty if there is none. A ``name`` with
    a slash is a path already."""
    folders = _absolute(env.get("PATH", os.defpath))
    paths = [name] if "/" in name else [f"{folder}/{name}" for folder in folders]
    for path in paths:
        if os.path.isfile(path) and os.access(path, os.X_OK):
            return path
    return ""


def program_path(env: Mapping[str, str], name: str) -> str:
    """What `find_program` finds. Raises FileNotFoundError if there is none."""
    path = find_program(env, name)
    if not path:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), name)
    return path


def own_words(
    module: str, arguments: Iterable[str], env: Mapping[str, str]
) -> list[str]:
    """The words that run the function ``main`` of one of our modules, in a process that
    gets this environment. It imports nothing from the current folder, whatever the
    environment says."""
    options, program = ["-P"], _PROGRAM.format(module)
    if any(_has_relative(env.get(name, "")) for name in _FOLDERS):
        # The absolute entries may hold this installation.
        folders = _absolute(env.get("PYTHONPATH", ""))
        options, program = ["-P", "-E"], _WITH_FOLDERS.format(folders, program)
    # Not -m, which takes 5 ms more.
    return [sys.executable, *options, "-c", program, *arguments]


def _absolute(folders: str) -> list[str]:
    return [folder for folder in folders.split(os.pathsep) if folder[:1] == "/"]


def _has_relative(folders: str) -> bool:
    return bool(folders) and len(_absolute(folders)) < len(folders.split(os.pathsep))
