"""Which files use which, from the facts of all of them."""

from __future__ import annotations

import os

from wc_core.edits.graph.facts import ALL

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from wc_core.edits.graph.facts import FileFacts, Import

    Uses = dict[str, dict[str, tuple[str, ...]]]

_TYPED = (".ts", ".tsx", ".mts", ".cts", ".d.ts")
_JAVASCRIPT = (*_TYPED, ".js", ".jsx", ".mjs", ".cjs")
# Suffixes in an import, and those of the sources it may be compiled from.
_COMPILED = {
    ".js": (".ts", ".tsx", ".d.ts"),
    ".jsx": (".tsx",),
    ".mjs": (".mts", ".d.mts"),
    ".cjs": (".cts", ".d.cts"),
}
_ENTRIES = ("index", "src/index")
_PYTHON = (".py", ".pyi")
_SOURCE_FOLDER = "src"


def uses(files: Mapping[str, FileFacts]) -> Uses:
    """For each source file, the files that it uses, each with the names from it that
    occur in the file. ``files`` also has those that configure projects."""
    result: Uses = {}
    words = {path: _foreign_words(facts) for path, facts in files.items()}
    names = {
        path: frozenset(name.rpartition(".")[2] for name in facts.symbols)
        for path, facts in files.items()
    }
    resolvers = (PythonResolver(files), JavascriptResolver(files))
    by_suffix = {
        suffix: resolver for resolver in resolvers for suffix in resolver.suffixes
    }
    for path in files:
        resolver = by_suffix.get(f".{path.rpartition('.')[2].lower()}")
        if resolver is not None:
            targets = sorted(set(resolver.targets(path)) - {path})
            result[path] = {
                target: tuple(sorted(words[path] & names[target])) for target in targets
            }
    return result


def _foreign_words(facts: FileFacts) -> frozenset[str]:
    """The words of a file that can stand for definitions in other files: not its own
    top-level definitions, unless it imports them."""
    own = {name for name in facts.symbols if "." not in name}
    imported = {name for item in facts.imports for name in item.names}
    return frozenset(facts.words.split(" ")) - (own - imported)


class JavascriptResolver:
    """Resolves imports of JavaScript and TypeScript."""

    suffixes = _JAVASCRIPT

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
            *(f"{base}{suffix}" for suffix in _JAVASCRIPT),
            *(_normal(base, f"index{suffix}") for suffix in _JAVASCRIPT),
        ]
        return next((path for path in candidates if self._is_source(path)), "")

    def _is_source(self, path: str) -> bool:
        return path in self.files and path.endswith(_JAVASCRIPT)

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


class PythonResolver:
    """Resolves imports of Python. They are looked up in the folder that the importing
    file's package is in, at the top, in ``src``, and beside all other packages; those
    of a script finally also in the folders above it."""

    suffixes = _PYTHON

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
            names = [f"{stem}{suffix}" for suffix in _PYTHON]
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
