"""What source files define, by language."""

from __future__ import annotations

import importlib
import sys
from typing import TYPE_CHECKING

import pytest

from wc_core.edits.graph import parsing
from wc_core.edits.graph.symbols import Definition, definitions, enclosing

if TYPE_CHECKING:
    from collections.abc import Iterator

SOURCES = {
    "a.py": b"""\
X = 1

@dec
class Login:
    a: int = 2

    def check(self):
        local = 1
        def inner():
            pass

async def f(): pass
type T = int
if X:
    def g(): pass
""",
    "a.js": b"""\
export default class A { x = 1; #p() {} get q() {} }
function* g() {}
export const h = () => 1, k = 2;
export function f() { const local = 1; function nested() {} }
""",
    "a.ts": b"""\
export interface I { m(): void }
abstract class B { abstract z(): void; y = 1; m() {} }
type T = 1;
enum E { A }
namespace N { export function f() {} }
declare function d(): void;
""",
    "a.tsx": b"export const App: FC = () => <div/>;\n",
}
NAMES = {
    "a.py": "X Login Login.a Login.check Login.check.inner f T g",
    "a.js": "A A.x A.#p A.q g h k f f.nested",
    "a.ts": "I I.m B B.z B.y B.m T E N N.f d",
    "a.tsx": "App",
}


@pytest.mark.parametrize("path", SOURCES)
def test_what_a_file_defines(path: str) -> None:
    found = definitions(path, SOURCES[path])
    assert found is not None
    assert [item.name for item in found] == NAMES[path].split()


def test_the_lines_of_a_definition_include_its_decorators() -> None:
    found = definitions("a.py", SOURCES["a.py"])
    assert found is not None
    assert found[1] == Definition("Login", 3, 10)
    assert found[3] == Definition("Login.check", 7, 10)


@pytest.mark.parametrize("source", [b"", b"\xff\0\xfe", b"def f(:\n  class", b"x" * 99])
def test_what_is_no_source_does_no_harm(source: bytes) -> None:
    for path in SOURCES:
        assert definitions(path, source) is not None


@pytest.mark.parametrize(
    ("first", "last", "expected"),
    [
        (1, 1, ["X"]),
        (2, 2, []),
        (5, 5, ["Login.a"]),
        (8, 8, ["Login.check"]),
        (9, 9, ["Login.check.inner"]),
        # More than one, and what is around them.
        (4, 7, ["Login", "Login.a", "Login.check"]),
        (10, 12, ["Login.check.inner", "f"]),
        # The place between two lines.
        (9, 8, ["Login.check"]),
        (2, 1, []),
    ],
)
def test_what_lines_are_in(first: int, last: int, expected: list[str]) -> None:
    found = definitions("a.py", SOURCES["a.py"])
    assert found is not None
    assert [item.name for item in enclosing(found, first, last)] == expected


@pytest.fixture
def no_extra(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """As if the extra were not installed: it is on no path."""
    for name in [name for name in sys.modules if name.startswith("tree_sitter")]:
        monkeypatch.delitem(sys.modules, name)
    paths = [path for path in sys.path if "site-packages" not in path]
    monkeypatch.setattr(sys, "path", paths)
    parsing.grammar.cache_clear()
    yield
    parsing.grammar.cache_clear()


@pytest.mark.usefixtures("no_extra")
def test_without_the_extra_nothing_is_known() -> None:
    with pytest.raises(ImportError):
        importlib.import_module("tree_sitter")
    assert definitions("a.py", b"def f(): pass") is None
    assert parsing.obstacle("a.py") == "wc-watercooler[graph] is not installed"
    assert parsing.missing_modules()[:1] == ["tree_sitter"]
