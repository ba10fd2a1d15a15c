"""From imports to files, by language."""

from __future__ import annotations

import pytest

from wc_core.edits.graph import resolving
from wc_core.edits.graph.facts import FileFacts, facts_of

PYTHON = {
    "src/shop/__init__.py": "from shop.cart import Cart",
    "src/shop/cart.py": "import shop.money.rates as r\nclass Cart:\n  def add(self): 0",
    "src/shop/money/__init__.py": "",
    "src/shop/money/rates.py": "from ..cart import Cart\nfrom . import words, nothing",
    "src/shop/money/words.py": "from ... import outside\nfrom .words import words",
    "tests/test_cart.py": "from shop.cart import *\nimport os, helper\nCart().add()",
    "tests/helper.py": "def late():\n    from shop import cart, money",
    "tool.py": "import tests.helper, src.shop\nfrom __future__ import annotations",
    "types.pyi": "import shop.stub",
    "src/shop/stub.pyi": "",
    "src/shop/stub.py": "from .money import *",
}
JAVASCRIPT = {
    "package.json": '{"name": "top", "workspaces": ["lib"]}',
    "app/main.ts": """
import { a } from './a.js'; import type { T } from './types'
export * from '../lib/deep'; import '@/late'; import './style.css'
import x = require('./b'); const c = import('./c'); import 'lib'; import 'lib/deep'
import fs from 'fs'; import 'lib2'; require(`./a`); other('./unused')
""",
    "app/a.ts": "export const a = 1",
    "app/types.d.ts": "",
    "app/b.tsx": "import { a } from '.'",
    "app/c/index.mjs": "import '../a'",
    "app/index.js": "module.exports = require('./b.jsx')",
    "app/unused.js": "",
    "src/late.ts": "",
    "tsconfig.json": '{"compilerOptions": {// c\n"paths": {"@/*": ["./src/*"]},}}',
    "lib/package.json": '{"name": "lib", "exports": {".": {"import": "./start.js"}}}',
    "lib/start.ts": "",
    "lib/deep/index.ts": "",
}
USES: dict[str, dict[str, str]] = {
    "python": {
        "src/shop/__init__.py": "src/shop/cart.py",
        "src/shop/cart.py": "src/shop/money/rates.py",
        "src/shop/money/__init__.py": "",
        "src/shop/money/rates.py": "src/shop/cart.py src/shop/money/__init__.py "
        "src/shop/money/words.py",
        "src/shop/money/words.py": "",
        "tests/test_cart.py": "src/shop/cart.py tests/helper.py",
        "tests/helper.py": "src/shop/cart.py src/shop/money/__init__.py",
        "tool.py": "src/shop/__init__.py tests/helper.py",
        "types.pyi": "src/shop/stub.py src/shop/stub.pyi",
        "src/shop/stub.pyi": "",
        "src/shop/stub.py": "src/shop/money/__init__.py",
    },
    "javascript": {
        "app/main.ts": "app/a.ts app/b.tsx app/c/index.mjs app/types.d.ts "
        "lib/deep/index.ts lib/start.ts src/late.ts",
        "app/b.tsx": "app/index.js",
        "app/c/index.mjs": "app/a.ts",
        "app/index.js": "app/b.tsx",
    },
}
REPOSITORIES = {
    "python": PYTHON,
    "javascript": JAVASCRIPT,
}


def facts(sources: dict[str, str]) -> dict[str, FileFacts]:
    return {path: facts_of(path, text.encode()) for path, text in sources.items()}


@pytest.mark.parametrize("language", REPOSITORIES)
def test_which_files_use_which(language: str) -> None:
    uses = resolving.uses(facts(REPOSITORIES[language]))
    actual = {user: " ".join(row) for user, row in uses.items()}
    expected = {user: USES[language].get(user, "") for user in uses}
    assert actual == expected


def test_the_names_of_a_use_are_those_that_occur() -> None:
    uses = resolving.uses(facts(PYTHON))
    assert uses["tests/test_cart.py"]["src/shop/cart.py"] == ("Cart", "add")
    assert uses["src/shop/__init__.py"]["src/shop/cart.py"] == ("Cart",)
    assert uses["tests/helper.py"]["src/shop/cart.py"] == ()


def test_what_a_file_defines_itself_is_no_use_of_others() -> None:
    sources = {
        "a.py": "def main(): pass\ndef run(): pass",
        "b.py": "import a\ndef main(): a.run()",
        "c.py": "from a import main\nmain()",
    }
    uses = resolving.uses(facts(sources))
    assert uses["b.py"]["a.py"] == ("run",)
    assert uses["c.py"]["a.py"] == ("main",)


@pytest.mark.parametrize("language", REPOSITORIES)
def test_facts_survive_the_cache(language: str) -> None:
    for item in facts(REPOSITORIES[language]).values():
        assert FileFacts.from_row(item.to_row()) == item


@pytest.mark.parametrize("path", ["package.json", "tsconfig.json"])
@pytest.mark.parametrize(
    "source", ["", "[", "[]", "1", '{"name": 1, "compilerOptions": []}', "\0\ufffd"]
)
def test_damaged_project_files_say_nothing(path: str, source: str) -> None:
    sources = {path: source, "a.py": "import b", "b.py": "", "a.ts": "import './b'"}
    assert resolving.uses(facts(sources))["a.py"] == {"b.py": ()}
