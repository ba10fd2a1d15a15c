"""The recipes of docs/architecture.md, walked in a copy of the checkout.

A recipe is complete if its steps, the generator and nothing else make the tests pass
that concern what was added.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.test_project import tracked_files

ROOT = Path(__file__).resolve().parents[1]
GENERATOR = "docs/make_reference.py"


class Step(NamedTuple):
    """An edit by hand: ``text`` before the only ``anchor`` of a file, or a new file."""

    path: str
    text: str
    anchor: str = ""


class Checkout:
    """A copy of the checkout, without its history."""

    def __init__(self, root: Path) -> None:
        self.root = root
        for name in tracked_files():
            copy = root / name
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, copy, follow_symlinks=False)

    def apply(self, step: Step) -> None:
        path = self.root / step.path
        if not step.anchor:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(step.text)
            return
        text = path.read_text()
        assert text.count(step.anchor) == 1, step
        path.write_text(text.replace(step.anchor, step.text + step.anchor))

    def run(self, *words: str) -> None:
        """Run Python in the copy, which must succeed."""
        done = subprocess.run(
            [sys.executable, *words],
            cwd=self.root,
            env={**os.environ, "PYTHONPATH": str(self.root / "src")},
            capture_output=True,
            text=True,
            check=False,
        )
        assert not done.returncode, done.stdout[-4000:] + done.stderr[-4000:]


def files_in_recipe(title: str) -> set[str]:
    """The files and folders that the steps of a recipe name, without those that are
    only run."""
    page = (ROOT / "docs/architecture.md").read_text()
    section = page.partition(f"\n## {title}\n")[2].partition("\n## ")[0]
    steps = "".join(re.findall(r"^\d\. .*\n(?:   .*\n)*", section, re.MULTILINE))
    paths = re.findall(r"`((?:src|docs|tests|bin)/[^`]+|CHANGELOG\.md)`", steps)
    return set(paths) - {GENERATOR}


_CLIENT = '''\
"""Helix, an editor."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wc_cli.install.changes import USER, Client, Part
from wc_cli.install.clients import common

if TYPE_CHECKING:
    from wc_cli.install.changes import InstallSite


def _parts(site: InstallSite) -> tuple[Part, ...]:
    server = {"command": common.server_program(site), "args": []}
    path = site.home / ".helix/mcp.json"
    change = common.json_server(path, ("servers",), server)
    return Part("server", (change,)), common.shared_skill(site)


def _is_present(site: InstallSite) -> bool:
    return common.is_present(site, ("hx",), ".helix")


CLIENT = Client("helix", _is_present, USER, _parts)
'''

CLIENT_STEPS = (
    Step(
        "src/wc_core/agents.py",
        '    Agent("Helix", "helix", ("hx",), ("helix-mcp",), ("HELIX_AGENT",)),\n',
        '    Agent("Zed", "zed"),\n',
    ),
    Step("src/wc_cli/install/clients/helix.py", _CLIENT),
    Step("tests/cli/install/home/.helix/mcp.json", '{"servers": {}}\n'),
    Step(
        "tests/cli/install/test_clients.py",
        '    "helix": (\n        *(".helix/mcp.json", "servers"),\n'
        '        {"command": "wc-observe", "args": []},\n    ),\n',
        '    "zed": (\n',
    ),
    Step("CHANGELOG.md", "- `wc install` knows Helix.\n\n", "## [0.1.0]"),
)


def test_adding_a_client(tmp_path: Path) -> None:
    copy = Checkout(tmp_path)
    for step in CLIENT_STEPS:
        copy.apply(step)
    copy.run(GENERATOR)
    copy.run("-m", "pytest", "-q", "-p", "no:cacheprovider", *CLIENT_TESTS)
    assert (
        "| `helix` | server | `~/.helix/mcp.json` |"
        in (tmp_path / "docs/install.md").read_text()
    )
    assert "`HELIX_AGENT`" in (tmp_path / "docs/identity.md").read_text()


# They concern the clients, the agents and the generated files.
CLIENT_TESTS = (
    "tests/cli/install/test_clients.py",
    "tests/core/identity/test_resolve.py",
    "tests/core/test_names.py",
    "tests/test_docs.py::test_the_reference_is_what_the_code_says",
    *("-k", "client or agent or reference or platform or without_a_trace"),
)


@pytest.mark.parametrize(("title", "steps"), [("Adding a client", CLIENT_STEPS)])
def test_a_recipe_names_the_files_that_its_walk_edits(
    title: str, steps: tuple[Step, ...]
) -> None:
    named = files_in_recipe(title)
    assert len(named) <= 6
    unnamed = {step.path for step in steps}
    for path in named:
        pattern = re.escape(path).replace("<client>", "[a-z_]+")
        matches = {edited for edited in unnamed if re.match(pattern, edited)}
        assert matches, path
        unnamed -= matches
    assert unnamed == set()
