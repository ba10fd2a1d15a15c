"""Packages of Go: a package is a folder, and its files can use each other."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from wc_core.edits.graph.facts import FileFacts

SUFFIXES = (".go",)
_TEST = "_test.go"


class GoResolver:
    """Resolves packages of Go to those of their files that define what is used."""

    suffixes = SUFFIXES

    def __init__(self, files: Mapping[str, FileFacts]) -> None:
        self.files = files
        self._modules = {
            facts.project["module"]: os.path.dirname(path)
            for path, facts in files.items()
            if path.endswith("go.mod") and facts.project
        }
        self._folders: dict[str, list[str]] = {}
        for path in files:
            if path.endswith(SUFFIXES):
                self._folders.setdefault(os.path.dirname(path), []).append(path)
        self._top = {
            path: frozenset(name for name in facts.symbols if "." not in name)
            for path, facts in files.items()
        }

    def targets(self, path: str) -> Iterator[str]:
        """The files that a file uses: those of its package that define one of its
        words, and those of the packages that it imports."""
        words = frozenset(self.files[path].words.split(" ")) - self._top[path]
        own = self._folders[os.path.dirname(path)]
        yield from self._defining([file for file in own if file != path], words)
        for statement in self.files[path].imports:
            package = [
                file
                for file in self._folders.get(self._folder(statement.module), ())
                if not file.endswith(_TEST)
            ]
            # Imported for its effects at start-up: then all of it.
            yield from list(self._defining(package, words)) or package

    def _defining(self, paths: list[str], words: frozenset[str]) -> Iterator[str]:
        return (path for path in paths if not words.isdisjoint(self._top[path]))

    def _folder(self, name: str) -> str:
        """The folder of a package; empty for a package outside this repository."""
        modules = [
            module
            for module in self._modules
            if name == module or name.startswith(f"{module}/")
        ]
        if not modules:
            return "//"
        module = max(modules, key=len)
        inner = name[len(module) :].strip("/")
        return "/".join(part for part in (self._modules[module], inner) if part)
