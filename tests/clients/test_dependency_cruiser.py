"""The same edges as dependency-cruiser finds in JavaScript and TypeScript."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests import amounts
from tests.clients import installing
from wc_core.edits.graph import resolving
from wc_core.edits.graph.facts import facts_of

if TYPE_CHECKING:
    from pathlib import Path

    from tests.clients.installing import Programs

PACKAGES = ("dependency-cruiser@18.7.2", "typescript@5.9.3")
# Each name belongs to one file, whatever suffix is tried first.
FILES = (
    *("main.ts", "app/page.tsx", "app/form.js", "app/old.cjs", "app/new.mjs"),
    *("app/index.ts", "lib/deep/index.js", "lib/types.d.ts", "lib/money.ts"),
)
# Whoever parses JavaScript refuses a name that is declared twice.
FORMS = (
    'import {{ {name} }} from "{path}";',
    'import * as {name} from "{path}";',
    'import "{path}";',
    'import type {{ {name} }} from "{path}";',
    'export * from "{path}";',
    'export {{ x as {name} }} from "{path}";',
    'const {name} = require("{path}");',
    'const {name} = import("{path}");',
    '// import "{path}"\nconst {name} = \'import "{path}"\';',
)


@st.composite
def imports(draw: st.DrawFn, path: str) -> tuple[str, str]:
    """The form of a statement and a relative path for it, written in one of the ways
    that are usual for the file."""
    target = draw(st.sampled_from(FILES))
    form = draw(st.sampled_from(FORMS))
    depth = path.count("/")
    written = draw(st.sampled_from(spellings(target)))
    relative = f"{'../' * depth or './'}{written}"
    if form.startswith("import type") and path.endswith((".js", ".cjs", ".mjs")):
        form = FORMS[0]
    return form, relative


def spellings(target: str) -> list[str]:
    """How a file can be named in an import."""
    stem, _, _suffix = target.partition(".")
    if target.endswith((".cjs", ".mjs", ".d.ts")):
        return [target] if not target.endswith(".d.ts") else [stem]
    ways = [stem]
    if target.endswith((".ts", ".tsx")):
        ways.append(f"{stem}.js")
    if stem.endswith("/index"):
        ways.append(stem.removesuffix("/index"))
    return ways


@st.composite
def repositories(draw: st.DrawFn) -> dict[str, str]:
    statements = {path: st.lists(imports(path), max_size=4) for path in FILES}
    return {path: _text(draw(lines)) for path, lines in statements.items()}


def _text(statements: list[tuple[str, str]]) -> str:
    lines = (
        form.format(path=path, name=f"x{number}")
        for number, (form, path) in enumerate(statements)
    )
    return "\n".join(lines) + "\n"


@pytest.fixture(scope="module")
def cruiser() -> Programs:
    return installing.unlocked("dependency-cruiser", *PACKAGES)


def by_cruiser(cruiser: Programs, top: Path) -> dict[str, set[str]]:
    words = ("--no-config", "--ts-pre-compilation-deps", "--output-type", "json", ".")
    output = subprocess.run(
        cruiser.words("depcruise", *words),
        cwd=top,
        capture_output=True,
        check=True,
        timeout=60,
    ).stdout
    # It lists a file that imports itself twice.
    found: dict[str, set[str]] = {}
    for module in json.loads(output)["modules"]:
        resolved = {item["resolved"] for item in module["dependencies"]}
        found.setdefault(module["source"], set()).update(resolved - {module["source"]})
    return found


@pytest.mark.long
@settings(
    max_examples=amounts.examples(5, 200),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(repositories())
def test_the_same_edges(
    cruiser: Programs, tmp_path_factory: pytest.TempPathFactory, files: dict[str, str]
) -> None:
    top = tmp_path_factory.mktemp("cruised")
    for path, text in files.items():
        (top / path).parent.mkdir(parents=True, exist_ok=True)
        (top / path).write_text(text)
    facts = {path: facts_of(path, text.encode()) for path, text in files.items()}
    ours = {path: set(row) for path, row in resolving.uses(facts).items()}
    assert ours == by_cruiser(cruiser, top)
