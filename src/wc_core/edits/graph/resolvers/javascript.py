"""Modules of JavaScript and TypeScript: relative paths, packages of the repository, and
the paths of ``tsconfig.json``."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from wc_core.edits.graph.facts import FileFacts

_TYPED = (".ts", ".tsx", ".mts", ".cts", ".d.ts")
SUFFIXES = (*_TYPED, ".js", ".jsx", ".mjs", ".cjs")
# Suffixes in an import, and those of the sources it may be compiled from.
_COMPILED = {
    ".js": (".ts", ".tsx", ".d.ts"),
    ".jsx": (".tsx",),
    ".mjs": (".mts", ".d.mts"),
    ".cjs": (".cts", ".d.cts"),
}
_ENTRIES = ("index", "src/index")


class JavascriptResolver:
    """Resolves imports of JavaScript and TypeScript."""

    suffixes = SUFFIXES

    def __init__(self, files: Mapping[str, FileFacts]) -> None:
        self.files = files
        self._packages: dict[str, tuple[str, list[str]]] = {}
        self._configs: dict[str, Mapping[str, Any]] = {}
        for path, facts in files.items():
            folder, name = os.path.split(path)
            if name == "package.json" and facts.project.get("name"):
                entries = facts.project["entries"]
                self._packages[facts.project["name"]] = (folder, entries)
            elif name in {"tsconfig.json", "jsconfig.json"} and facts.project:
                self._configs[folder] = facts.project

    def targets(self, path: str) -> Iterator[str]:
        """The files that a file imports."""
        folder = os.path.dirname(path)
        for statement in self.files[path].imports:
            name = statement.module
            if name.startswith("."):
                target = self._file(_normal(folder, name))
            else:
                target = self._by_config(folder, name) or self._by_package(name)
            if target:
                yield target

    def _file(self, base: str) -> str:
        """The file at a path as written in an import; empty if there is none."""
        stem, suffix = os.path.splitext(base)
        compiled = [f"{stem}{ending}" for ending in _COMPILED.get(suffix, ())]
        candidates = [
            *(base, *compiled),
            *(f"{base}{suffix}" for suffix in SUFFIXES),
            *(_normal(base, f"index{suffix}") for suffix in SUFFIXES),
        ]
        return next((path for path in candidates if self._is_source(path)), "")

    def _is_source(self, path: str) -> bool:
        return path in self.files and path.endswith(SUFFIXES)

    def _by_config(self, folder: str, name: str) -> str:
        """The file of a name, resolved with the nearest tsconfig.json above a
        folder."""
        while folder not in self._configs:
            if not folder:
                return ""
            folder = os.path.dirname(folder)
        config = self._configs[folder]
        base = _normal(folder, config["base"])
        for pattern, places in config["paths"].items():
            head, star, tail = pattern.partition("*")
            is_match = name.startswith(head) and name.endswith(tail)
            if not is_match or (not star and name != pattern):
                continue
            middle = name[len(head) : len(name) - len(tail)] if star else ""
            for place in places:
                target = self._file(_normal(base, place.replace("*", middle)))
                if target:
                    return target
        return self._file(_normal(base, name)) if config["base"] else ""

    def _by_package(self, name: str) -> str:
        """The file of a name that begins with a package of the repository."""
        words = name.split("/")
        count = 2 if name.startswith("@") else 1
        package = self._packages.get("/".join(words[:count]))
        if package is None:
            return ""
        folder, entries = package
        inner = "/".join(words[count:])
        places = [inner, f"src/{inner}"] if inner else [*entries, *_ENTRIES]
        targets = (self._file(_normal(folder, place)) for place in places)
        return next(filter(None, targets), "")


def _normal(folder: str, name: str) -> str:
    """The path of a name in a folder, from the top of the repository."""
    path = os.path.normpath(f"{folder}/{name}" if folder else name)
    return "" if path == "." else path
