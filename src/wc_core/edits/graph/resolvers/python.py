"""Modules of Python: packages, and the folders that they are imported from."""

from __future__ import annotations

import os

from wc_core.edits.graph.imports import ALL

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from wc_core.edits.graph.facts import FileFacts
    from wc_core.edits.graph.imports import Import

SUFFIXES = (".py", ".pyi")
_SOURCE_FOLDER = "src"


class PythonResolver:
    """Resolves imports of Python. They are looked up in the folder that the importing
    file's package is in, at the top, in ``src``, and beside all other packages; those
    of a script finally also in the folders above it."""

    suffixes = SUFFIXES

    def __init__(self, files: Mapping[str, FileFacts]) -> None:
        self.files = files
        self._packages = {
            os.path.dirname(path) for path in files if _is_package_file(path)
        }
        roots = {self._root(folder) for folder in self._packages}
        self._roots = ["", _SOURCE_FOLDER, *sorted(roots - {"", _SOURCE_FOLDER})]
        self._modules: dict[tuple[str, str], tuple[str, ...]] = {}

    def _root(self, folder: str) -> str:
        """The folder that a package is imported from: the first one above it that is
        not a package."""
        while folder and folder in self._packages:
            folder = os.path.dirname(folder)
        return folder

    def targets(self, path: str) -> Iterator[str]:
        """The files that a file imports."""
        for statement in self.files[path].imports:
            yield from self._imported(path, statement)

    def _imported(self, path: str, statement: Import) -> Iterator[str]:
        """The files of one import: of ``from a import b``, the module ``a.b`` if there
        is one, else ``a``."""
        for name in statement.names or ("",):
            member = "" if name == ALL else name
            targets = self._module(path, statement.module, member)
            if not targets and member:
                targets = self._module(path, statement.module, "")
            yield from targets

    def _module(self, path: str, module: str, member: str) -> tuple[str, ...]:
        """The files of a module, or of a module ``member`` in it, as written in a
        file."""
        name = module.lstrip(".")
        parts = [part for part in (*name.split("."), member) if part]
        level = len(module) - len(name)
        folder = os.path.dirname(path)
        if not level:
            return self._absolute(folder, "/".join(parts)) if parts else ()
        for _ in range(level - 1):
            if not folder:
                return ()
            folder = os.path.dirname(folder)
        return self._files("/".join(part for part in (folder, *parts) if part))

    def _absolute(self, folder: str, name: str) -> tuple[str, ...]:
        key = (folder, name)
        if key not in self._modules:
            is_package = folder in self._packages
            own = [self._root(folder)] if is_package else []
            above = [] if is_package else _upward(folder)
            roots = dict.fromkeys([*own, *self._roots, *above])
            places = (self._files(_join(root, name)) for root in roots)
            self._modules[key] = next(filter(None, places), ())
        return self._modules[key]

    def _files(self, base: str) -> tuple[str, ...]:
        """The files of the module at a path without suffix: a package before a module,
        and its stub with it."""
        for stem in (_join(base, "__init__"), base):
            names = [f"{stem}{suffix}" for suffix in SUFFIXES]
            present = tuple(name for name in names if name in self.files)
            if present:
                return present
        return ()


def _upward(folder: str) -> Iterator[str]:
    """A folder, and those above it."""
    while folder:
        yield folder
        folder = os.path.dirname(folder)


def _join(folder: str, name: str) -> str:
    return f"{folder}/{name}" if folder else name


def _is_package_file(path: str) -> bool:
    return os.path.basename(path) in {"__init__.py", "__init__.pyi"}
