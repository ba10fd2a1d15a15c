"""Which files use which, from the facts of all of them."""

from __future__ import annotations

from wc_core.edits.graph.resolvers.javascript import JavascriptResolver
from wc_core.edits.graph.resolvers.python import PythonResolver

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from wc_core.edits.graph.facts import FileFacts

    Uses = dict[str, dict[str, tuple[str, ...]]]

_RESOLVERS: tuple[Any, ...] = (PythonResolver, JavascriptResolver)


def uses(files: Mapping[str, FileFacts]) -> Uses:
    """For each source file, the files that it uses, each with the names from it that
    occur in the file. ``files`` also has those that configure projects."""
    result: Uses = {}
    words = {path: _foreign_words(facts) for path, facts in files.items()}
    names = {
        path: frozenset(name.rpartition(".")[2] for name in facts.symbols)
        for path, facts in files.items()
    }
    resolvers = [resolver_class(files) for resolver_class in _RESOLVERS]
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
