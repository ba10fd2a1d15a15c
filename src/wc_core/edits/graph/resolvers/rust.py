"""Modules of Rust, by the usual places of their files."""

from __future__ import annotations

import os

from wc_core.base.values import NamedTuple
from wc_core.edits.graph.imports import MODULE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from wc_core.edits.graph.facts import FileFacts

SUFFIXES = (".rs",)
# Files that stand for the folder that they are in.
_FOLDER_FILES = frozenset({"mod.rs", "lib.rs", "main.rs"})
_BINARIES = "bin"


class _Crate(NamedTuple):
    """A crate: the folder with its modules, and the file of its library."""

    folder: str
    library: str


class RustResolver:
    """Resolves modules and paths of Rust."""

    suffixes = SUFFIXES

    def __init__(self, files: Mapping[str, FileFacts]) -> None:
        self.files = files
        self._crates = {
            facts.project["name"]: _crate(os.path.dirname(path), facts.project["lib"])
            for path, facts in files.items()
            if path.endswith("Cargo.toml") and facts.project.get("name")
        }

    def targets(self, path: str) -> Iterator[str]:
        """The files that a file uses."""
        for statement in self.files[path].imports:
            name = statement.module
            if name.startswith(MODULE):
                target = self._child(
                    self._module_folder(path), name.removeprefix(MODULE)
                )
            else:
                target = self._by_path(path, name.split("::"))
            if target and target != path:
                yield target

    def _module_folder(self, path: str) -> str:
        """The folder with the children of the module that a file is."""
        folder, name = os.path.split(path)
        is_root = any(crate.library == path for crate in self._crates.values())
        if is_root or name in _FOLDER_FILES or os.path.basename(folder) == _BINARIES:
            return folder
        return path.removesuffix(".rs")

    def _child(self, folder: str, name: str) -> str:
        """The file of a module in a folder; empty if there is none."""
        base = f"{folder}/{name}" if folder else name
        names = (f"{base}.rs", f"{base}/mod.rs")
        return next((name for name in names if name in self.files), "")

    def _by_path(self, path: str, words: Sequence[str]) -> str:
        """The file that a path such as ``crate::auth::Login`` leads to."""
        start, names = words[0], list(words[1:])
        if start == "crate":
            folder = self._crate_folder(path)
            return self._descend(folder, names) or self._root_file(folder, path)
        if start == "self":
            return self._descend(self._module_folder(path), names)
        if start == "super":
            return self._above(path, names)
        if start in self._crates:
            crate = self._crates[start]
            library = crate.library if crate.library in self.files else ""
            return self._descend(crate.folder, names) or library
        return self._descend(self._module_folder(path), words)

    def _above(self, path: str, words: list[str]) -> str:
        folder = os.path.dirname(self._module_folder(path))
        while words[:1] == ["super"]:
            folder, words = os.path.dirname(folder), words[1:]
        return self._descend(folder, words) or self._file_of(folder)

    def _descend(self, folder: str, words: Sequence[str]) -> str:
        """The file of the deepest module on a path down from a folder."""
        target = ""
        for word in words:
            child = self._child(folder, word)
            if not child:
                break
            target, folder = child, f"{folder}/{word}" if folder else word
        return target

    def _file_of(self, folder: str) -> str:
        """The file of the module whose children are in a folder."""
        names = (
            f"{folder}.rs",
            *(f"{folder}/{name}" for name in sorted(_FOLDER_FILES)),
        )
        return next((name for name in names if name in self.files), "")

    def _crate_folder(self, path: str) -> str:
        """The folder with the modules of the crate that a file is in."""
        folders = [
            crate.folder
            for crate in self._crates.values()
            if path.startswith(f"{crate.folder}/") or not crate.folder
        ]
        if not folders or f"/{_BINARIES}/" in path:
            return self._module_folder(path)
        return max(folders, key=len)

    def _root_file(self, folder: str, path: str) -> str:
        """The main file of a crate."""
        names = [f"{folder}/lib.rs", f"{folder}/main.rs"]
        return next((name for name in names if name in self.files and name != path), "")


def _crate(folder: str, library: str) -> _Crate:
    path = f"{folder}/{library}" if folder else library
    return _Crate(os.path.dirname(path), path)
