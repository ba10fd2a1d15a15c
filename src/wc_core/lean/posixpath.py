"""`os.path` without the modules that it imports."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from posixpath import (
        abspath,
        basename,
        commonpath,
        dirname,
        exists,
        expanduser,
        isabs,
        isdir,
        isfile,
        islink,
        join,
        lexists,
        normpath,
        realpath,
        relpath,
        samestat,
        split,
    )
else:
    import posix  # noqa: TID251
    from _stat import S_ISDIR, S_ISLNK, S_ISREG

    # Paths that are not text, and relative ones, are left to the library.

    def _status(
        look: Callable[[object], posix.stat_result], path: object
    ) -> posix.stat_result | None:
        """Return the status of a file, or None."""
        try:
            return look(path)
        except (OSError, ValueError):
            return None

    def isdir(path: object) -> bool:
        """Whether this is a folder, or a link to one."""
        status = _status(posix.stat, path)
        return status is not None and S_ISDIR(status.st_mode)

    def isfile(path: object) -> bool:
        """Whether this is a regular file, or a link to one."""
        status = _status(posix.stat, path)
        return status is not None and S_ISREG(status.st_mode)

    def islink(path: object) -> bool:
        """Whether this is a symbolic link."""
        status = _status(posix.lstat, path)
        return status is not None and S_ISLNK(status.st_mode)

    def exists(path: object) -> bool:
        """Whether this exists. A link exists if its target does."""
        return _status(posix.stat, path) is not None

    def lexists(path: object) -> bool:
        """Whether this exists. A link exists even if its target does not."""
        return _status(posix.lstat, path) is not None

    def samestat(status: posix.stat_result, other: posix.stat_result) -> bool:
        """Whether both are of the same file."""
        return (status.st_ino, status.st_dev) == (other.st_ino, other.st_dev)

    def isabs(path: str) -> bool:
        """Whether the path is absolute."""
        if type(path) is not str:
            return _library().isabs(path)
        return path.startswith("/")

    def split(path: str) -> tuple[str, str]:
        """Return the folder of a path and its last part."""
        if type(path) is not str:
            return _library().split(path)
        slash = path.rfind("/") + 1
        folder, last = path[:slash], path[slash:]
        # A folder of nothing but slashes is kept.
        return folder.rstrip("/") or folder, last

    def dirname(path: str) -> str:
        """Return the folder of a path."""
        return split(path)[0]

    def basename(path: str) -> str:
        """Return the last part of a path."""
        return split(path)[1]

    def join(path: str, *parts: str) -> str:
        """Return the path of a file in a folder. An absolute part replaces those before
        it."""
        if not all(type(part) is str for part in (path, *parts)):
            return _library().join(path, *parts)
        for part in parts:
            if part.startswith("/"):
                path = part
            elif not path or path.endswith("/"):
                path += part
            else:
                path += f"/{part}"
        return path

    def realpath(path: str, *, strict: bool = False) -> str:
        """Return the absolute path without symbolic links."""
        if strict or type(path) is not str or path[:1] != "/" or "\0" in path:
            return _library().realpath(path, strict=strict)
        real = ""
        for part in path.split("/"):
            if part == "..":
                real = real[: max(real.rfind("/"), 0)]
            elif part not in {"", "."}:
                real = f"{real}/{part}"
                if islink(real):
                    return _library().realpath(path)
        return real or "/"

    def normpath(path: str) -> str:
        """Return the path without empty parts, `.` and `..`."""
        return path if _is_plain(path) else _library().normpath(path)

    def abspath(path: str) -> str:
        """Return the absolute path, without empty parts, `.` and `..`."""
        return path if _is_plain(path) else _library().abspath(path)

    def _is_plain(path: str) -> bool:
        """Whether the path is absolute, with no part that is empty, `.` or `..`."""
        if type(path) is not str or not path.startswith("/") or "\0" in path:
            return False
        closed = f"{path}/"
        return not ("//" in closed or "/./" in closed or "/../" in closed)

    def relpath(path: str, start: str) -> str:
        """Return the path relative to a folder."""
        if _is_plain(path) and _is_plain(start):
            if path == start:
                return "."
            if path.startswith(f"{start}/"):
                return path[len(start) + 1 :]
        return _library().relpath(path, start)

    def __getattr__(name: str) -> object:
        """Return another function of the library, when it is first used."""
        function = globals()[name] = getattr(_library(), name)
        return function

    def _library() -> object:
        import posixpath  # 1 ms, for paths that are not plain

        return posixpath


__all__ = [
    "abspath",
    "basename",
    "commonpath",
    "dirname",
    "exists",
    "expanduser",
    "isabs",
    "isdir",
    "isfile",
    "islink",
    "join",
    "lexists",
    "normpath",
    "realpath",
    "relpath",
    "samestat",
    "split",
]
