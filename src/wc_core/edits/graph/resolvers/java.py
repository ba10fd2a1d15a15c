"""Types of Java, by their full names; the files of a package can use each other."""

from __future__ import annotations

from wc_core.edits.graph.imports import ALL

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from wc_core.edits.graph.facts import FileFacts

SUFFIXES = (".java",)


class JavaResolver:
    """Resolves full names of types to files."""

    suffixes = SUFFIXES

    def __init__(self, files: Mapping[str, FileFacts]) -> None:
        self.files = files
        self._types: dict[str, dict[str, str]] = {}
        for path, facts in files.items():
            for name in facts.symbols:
                if "." not in name:
                    self._types.setdefault(facts.package, {})[name] = path

    def targets(self, path: str) -> Iterator[str]:
        """The files that a file uses: of its own package, and of what it imports."""
        facts = self.files[path]
        words = frozenset(facts.words.split(" "))
        yield from self._in_package(facts.package, words)
        for statement in facts.imports:
            package, _, name = statement.module.rpartition(".")
            if name == ALL and package in self._types:
                yield from self._in_package(package, words)
            else:
                yield from self._by_name(package if name == ALL else statement.module)

    def _in_package(self, package: str, words: frozenset[str]) -> Iterator[str]:
        for name, path in self._types.get(package, {}).items():
            if name in words:
                yield path

    def _by_name(self, name: str) -> Iterator[str]:
        """The file of a full name: of a type, or of something in one."""
        while "." in name:
            package, _, type_name = name.rpartition(".")
            if type_name in self._types.get(package, {}):
                yield self._types[package][type_name]
                return
            name = package
