"""`os` without the abstract base classes, which take 1 ms to define.

It has every function of `posix`, which is most of `os`, and the forms of `os.path` in
`wc_core.lean.posixpath`. Everything else is imported from `os` when it is first used.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from os import *  # noqa: F403
    from os import _exit, environ, path
else:
    import posix  # noqa: TID251
    import sys

    from wc_core.lean import posixpath as path

    globals().update(
        (name, value)
        for name, value in vars(posix).items()
        if not name.startswith("__") and name != "environ"  # which has bytes
    )
    sep, pathsep, devnull, linesep = "/", ":", "/dev/null", "\n"
    curdir, pardir, defpath = ".", "..", "/bin:/usr/bin"

    def fsencode(name: str | bytes) -> bytes:
        """Return the bytes of a path."""
        name = posix.fspath(name)
        if isinstance(name, bytes):
            return name
        return name.encode(sys.getfilesystemencoding(), _errors())

    def fsdecode(name: str | bytes) -> str:
        """Return the text of a path."""
        name = posix.fspath(name)
        if isinstance(name, str):
            return name
        return name.decode(sys.getfilesystemencoding(), _errors())

    def _errors() -> str:
        return sys.getfilesystemencodeerrors()

    _read_only = type(type.__dict__)
    _variables = None

    def __getattr__(name: str) -> object:
        """Return the environment, or something else that only `os` has."""
        if name == "environ" and "os" not in sys.modules:
            return _environment()
        import os  # 1 ms, for what `posix` does not have

        value = getattr(os, name)
        if name != "environ":
            globals()[name] = value
        return value

    def _environment() -> object:
        """Return the variables with which the process was started, read-only: a change
        would be lost when `os` is imported."""
        global _variables  # noqa: PLW0603
        if _variables is None:
            variables = posix.environ.items()
            _variables = _read_only(
                {fsdecode(name): fsdecode(value) for name, value in variables}
            )
        return _variables


__all__ = ["_exit", "environ", "path"]
