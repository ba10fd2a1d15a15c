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

    def text(self, path: str) -> str:
        return (self.root / path).read_text()

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


_COMMAND = '''\
"""``wc count``: how many threads there are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wc_cli.run.options import Options, command, flag
from wc_cli.run.output import say, say_json
from wc_core.base.phrases import counted
from wc_core.reading.views.rows import Filter

if TYPE_CHECKING:
    from wc_cli.run.context import Context


class CountOptions(Options):
    """Count the threads."""

    open: bool = flag("--open", help="Leave closed threads out.")


@command(CountOptions)
def count(context: Context, options: CountOptions) -> None:
    """Count the threads."""
    total = context.overview.page(Filter(options.open), 1).total
    if options.json:
        say_json({"store": context.store, "threads": total})
    else:
        say(counted(total, "thread"))
'''

_COMMAND_TEST = '''\
"""``wc count``."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.conftest import Repo


def test_threads_are_counted(repo: Repo) -> None:
    assert repo.ok("count").out == "0 threads\\n"
    repo.ok("new", "auth", "--title", "Keys")
    repo.ok("new", "bills", "--title", "Round up?", "--status", "CLOSED")
    assert repo.ok("count").out == "2 threads\\n"
    assert json.loads(repo.ok("count", "--open", "--json").out)["threads"] == 1
'''

COMMAND_STEPS = (
    Step("src/wc_cli/commands/count.py", _COMMAND),
    Step(
        "src/wc_cli/run/table.py",
        '    "count": Command("commands.count:count", READING, agents=True),\n',
        '    "import": Command(',
    ),
    Step("tests/cli/commands/test_count.py", _COMMAND_TEST),
    Step(
        "docs/reference_words.py",
        '    "count": ("wc count --open",),\n',
        '    "reindex": ("wc reindex --closed"',
    ),
    Step(
        "src/wc_cli/agents/skill/watercooler/references/search.md",
        "wc count --open\n# 2 threads\n",
        "wc search logout cookie\n",
    ),
    Step("CHANGELOG.md", "- `wc count` counts the threads.\n\n", "## [0.1.0]"),
)

# They concern the command, the launcher, the skill, the installer and the reference.
# That of the skill runs the command as it is installed, by the launcher.
COMMAND_TESTS = (
    "tests/cli/commands/test_count.py",
    "tests/cli/commands/test_about.py",
    "tests/cli/test_options.py",
    "tests/bin/test_launcher.py::test_the_launcher_has_every_command_of_the_command_line",
    "tests/cli/install/test_clients.py::test_what_needs_no_asking_are_commands_and_tools_that_exist",
    "tests/test_man.py::test_every_command_has_its_place_in_the_manual",
    *("-k", "not wheel and not typer"),
)


@pytest.mark.long
def test_adding_a_command(tmp_path: Path) -> None:
    copy = Checkout(tmp_path)
    for step in COMMAND_STEPS:
        copy.apply(step)
    copy.run(GENERATOR)
    copy.run("-m", "ruff", "check", "src/wc_cli", "docs", "tests/cli/commands")
    copy.run("-m", "pytest", "-q", "-p", "no:cacheprovider", *COMMAND_TESTS)
    assert "### wc count\n\nCount the threads.\n" in copy.text("docs/commands.md")
    assert re.search(r"[| ]count \|", copy.text("bin/wc"))
    skill = copy.text("src/wc_cli/agents/skill/watercooler/SKILL.md")
    assert " Bash(wc count:*) " in skill


@pytest.mark.long
@pytest.mark.parametrize(
    "forgotten", ["src/wc_cli/run/table.py", "docs/reference_words.py", GENERATOR]
)
def test_a_forgotten_place_of_a_command_is_noticed(
    tmp_path: Path, forgotten: str
) -> None:
    copy = Checkout(tmp_path)
    for step in COMMAND_STEPS:
        if step.path != forgotten:
            copy.apply(step)
    if forgotten == GENERATOR:
        with pytest.raises(AssertionError, match="count"):
            copy.run("-m", "pytest", "-q", "-p", "no:cacheprovider", *COMMAND_TESTS)
    else:
        # The generator needs both.
        with pytest.raises(AssertionError, match="count"):
            copy.run(GENERATOR)


_CLIENT = '''\
"""Helix, an editor."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wc_cli.agents.install.changes import USER, Client, Part
from wc_cli.agents.install.clients import common

if TYPE_CHECKING:
    from wc_cli.agents.install.changes import InstallSite


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
        "src/wc_core/base/agents.py",
        '    Agent("Helix", "helix", ("hx",), ("helix-mcp",), ("HELIX_AGENT",)),\n',
        '    Agent("Zed", "zed"),\n',
    ),
    Step("src/wc_cli/agents/install/clients/helix.py", _CLIENT),
    Step("tests/cli/install/home/.helix/mcp.json", '{"servers": {}}\n'),
    Step(
        "tests/cli/install/test_clients.py",
        '    "helix": (\n        *(".helix/mcp.json", "servers"),\n'
        '        {"command": "wc-observe", "args": []},\n    ),\n',
        '    "zed": (\n        *(".config/zed/settings.json", "context_servers"),\n',
    ),
    Step("CHANGELOG.md", "- `wc install` knows Helix.\n\n", "## [0.1.0]"),
)


@pytest.mark.long
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
    script = (tmp_path / "bin/wc-statusline").read_text()
    assert "${HELIX_AGENT:+=helix }" in script


# They concern the clients, the agents and the generated files.
CLIENT_TESTS = (
    "tests/cli/install/test_clients.py",
    "tests/core/identity/test_resolve.py",
    "tests/core/test_names.py",
    "tests/bin/test_statusline_script.py",
    "-k",
    "client or known_by or platforms_have or without_a_trace or variables",
)


_TOOL = '''\
def count_threads(
    ball: Ball = "",
) -> ToolResult:
    """Answer `count_threads`."""
    page = _current_store().overview.page(Filter(ball=ball), 1, "")
    total = {"total": page.total}
    return ToolResult(f"{page.total} threads\\n", structured_content=total)


'''

_TOOL_TEST = '''\
"""How many threads there are."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.observe.stores import Session, Store


def test_threads_are_counted(store: Store, session: Session) -> None:
    store.thread("free", store.give("free", None))
    store.thread("held", store.give("held", "Codex"))
    assert session.fields("count_threads") == {"total": 2}
    assert session.fields("count_threads", ball="Codex") == {"total": 1}
'''

TOOL_STEPS = (
    Step("src/wc_observe/mcp/tools.py", _TOOL, "def reindex() -> ToolResult:\n"),
    Step(
        "src/wc_observe/mcp/tools.py",
        '    ToolSpec(count_threads, "How many threads there are."),\n',
        "    ToolSpec(\n        reindex,\n",
    ),
    Step(
        "src/wc_core/base/toolnames.py",
        '    "count_threads",\n',
        '    *("get_neighbors',
    ),
    Step(
        "tests/observe/every_call.py",
        '    *(("count_threads", {"ball": name}) for name in ("me", "")),\n',
        '    ("reindex", {}),\n',
    ),
    Step(
        "docs/observe.md",
        "| `count_threads(ball)` | how many threads there are |\n",
        "| `reindex()` |",
    ),
    Step("tests/observe/mcp/test_count_threads.py", _TOOL_TEST),
    Step("CHANGELOG.md", "- The tool `count_threads`.\n\n", "## [0.1.0]"),
)

# They concern the list of tools, the guide, the installer and the proof.
TOOL_TESTS = (
    "tests/observe/mcp/test_count_threads.py",
    "tests/observe/mcp/test_server.py",
    "tests/cli/install/test_clients.py::test_what_needs_no_asking_are_commands_and_tools_that_exist",
    "tests/contract/test_read_only.py::test_nothing_writes_whatever_is_called",
    "tests/test_docs.py::test_the_page_of_the_server_has_all_that_it_offers",
    "tests/test_docs.py::test_the_reference_is_what_the_code_says",
    # How large all tools may be together is decided by hand.
    *("-k", "not progress and not health and not bad_arguments and not offered"),
)


@pytest.mark.long
def test_adding_a_tool(tmp_path: Path) -> None:
    copy = Checkout(tmp_path)
    for step in TOOL_STEPS:
        copy.apply(step)
    copy.run(GENERATOR)
    copy.run("-m", "pytest", "-q", "-p", "no:cacheprovider", *TOOL_TESTS)


@pytest.mark.long
@pytest.mark.parametrize(
    "forgotten",
    [
        "src/wc_core/base/toolnames.py",
        "tests/observe/every_call.py",
        "docs/observe.md",
    ],
)
def test_a_forgotten_place_of_a_tool_is_noticed(tmp_path: Path, forgotten: str) -> None:
    copy = Checkout(tmp_path)
    for step in TOOL_STEPS:
        if step.path != forgotten:
            copy.apply(step)
    with pytest.raises(AssertionError, match="count_threads"):
        copy.run("-m", "pytest", "-q", "-p", "no:cacheprovider", *TOOL_TESTS)


_PAGE = '''\
"""The page of closed threads."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wc_core.reading.views.rows import Filter
from wc_observe.web.html import element, joined
from wc_observe.web.page import WebPage

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wc_observe.callers.open_store import OpenStore
    from wc_observe.web.page import PageContext


def closed_page(
    store: OpenStore, context: PageContext, _query: Mapping[str, str]
) -> WebPage:
    """Returns the titles of the closed threads."""
    page = store.overview.page(Filter(status="CLOSED"), 100, "")
    items = [
        element("li", element("a", row.title, href=context.links.thread(row.topic)))
        for row in page.rows
    ]
    main = joined((element("h1", "Closed"), element("ul", *items)))
    return WebPage("Closed", main, up=context.links.closed())
'''

_PAGE_TEST = '''\
"""The page of closed threads."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.observe.stores import Store
    from tests.observe.web.pages import Site


def test_closed_threads_are_listed(site: Site, store: Store) -> None:
    store.thread("open", store.give("open", None, title="To do"))
    store.thread("over", store.give("over", None, status="CLOSED", title="Done"))
    text = site.said("closed")
    assert "Done" in text
    assert "To do" not in text
'''

PAGE_STEPS = (
    Step("src/wc_observe/web/closed.py", _PAGE),
    Step(
        "src/wc_observe/web/app.py",
        '        Route(base + "/closed", pages.page(closed.closed_page)),\n',
        '        Route(base + "/search", ',
    ),
    Step(
        "src/wc_observe/web/app.py",
        "from wc_observe.web import closed\n",
        "from wc_observe.web.guard import",
    ),
    Step(
        "src/wc_observe/web/links.py",
        '    def closed(self) -> str:\n        """The closed threads."""\n'
        '        return f"{self.base}/closed"\n\n',
        "    def events(self)",
    ),
    Step("tests/observe/web/test_closed.py", _PAGE_TEST),
    Step("tests/observe/web/every_page.py", '    "closed",\n', '    *("plan", "icon'),
    Step("docs/seeing.md", "- **Closed**: the closed threads.\n", "- **Edits**:"),
    Step("CHANGELOG.md", "- A page with the closed threads.\n\n", "## [0.1.0]"),
)

# They concern the new page and the proof.
PAGE_TESTS = (
    "tests/observe/web/test_closed.py",
    "tests/contract/test_read_only.py::test_nothing_writes_whatever_page_is_asked_for",
)


@pytest.mark.long
def test_adding_a_page(tmp_path: Path) -> None:
    copy = Checkout(tmp_path)
    for step in PAGE_STEPS:
        copy.apply(step)
    copy.run("-m", "pytest", "-q", "-p", "no:cacheprovider", *PAGE_TESTS)


_SETTING_TEST = """\
@pytest.mark.parametrize(("value", "counts"), [("true", True), ("false", False)])
def test_counts_are_shown_or_not(tmp_path: Path, value: str, counts: bool) -> None:
    found = settings(tmp_path, config_toml=f"[claims]\\ncounts = {value}")
    assert found.counts is counts
    assert settings(tmp_path, config_toml="[claims]\\ncounts = 1").damage


"""

SETTING_STEPS = (
    Step(
        "src/wc_core/ledger/configuration/keys.py",
        "    Key(\n"
        '        "claims.counts",\n'
        "        SWITCH,\n"
        '        "Whether the server counts threads.",\n'
        "        default=False,\n"
        '        field="counts",\n'
        "    ),\n",
        '    Key(\n        "claims.guard",\n',
    ),
    Step(
        "src/wc_core/ledger/threads/settings.py",
        "    counts: bool = False\n",
        "    damage: Damage | None = None\n",
    ),
    Step(
        "tests/core/threads/test_settings.py",
        _SETTING_TEST,
        '@pytest.mark.parametrize("value", ENFORCE)\n',
    ),
    Step(
        "docs/store.md",
        "counts = true               # whether the server counts threads\n",
        'guard = "advise"            # off | notice',
    ),
    Step("CHANGELOG.md", "- The setting `counts`.\n\n", "## [0.1.0]"),
)

# They concern the settings and the pages that show them.
SETTING_TESTS = (
    "tests/core/threads/test_settings.py",
    "tests/test_docs.py",
    *("-k", "settings or setting or counts or text_exist or the_reference_is"),
)


@pytest.mark.long
def test_adding_a_setting(tmp_path: Path) -> None:
    copy = Checkout(tmp_path)
    for step in SETTING_STEPS:
        copy.apply(step)
    copy.run(GENERATOR)
    copy.run("-m", "ruff", "check", "src/wc_core")
    copy.run("-m", "pytest", "-q", "-p", "no:cacheprovider", *SETTING_TESTS)
    assert "`claims.counts`" in copy.text("docs/configuration.md")


@pytest.mark.long
@pytest.mark.parametrize("forgotten", ["docs/store.md", GENERATOR])
def test_a_forgotten_place_of_a_setting_is_noticed(
    tmp_path: Path, forgotten: str
) -> None:
    copy = Checkout(tmp_path)
    for step in SETTING_STEPS:
        if step.path != forgotten:
            copy.apply(step)
    if forgotten != GENERATOR:
        copy.run(GENERATOR)
    with pytest.raises(AssertionError, match=r"counts|out of date"):
        copy.run("-m", "pytest", "-q", "-p", "no:cacheprovider", *SETTING_TESTS)


RECIPES = {
    "Adding a command": COMMAND_STEPS,
    "Adding a client": CLIENT_STEPS,
    "Adding a tool": TOOL_STEPS,
    "Adding a page": PAGE_STEPS,
    "Adding a setting": SETTING_STEPS,
}


@pytest.mark.parametrize("steps", RECIPES.values(), ids=RECIPES)
def test_a_walk_still_finds_its_places(steps: tuple[Step, ...]) -> None:
    for step in steps:
        path = ROOT / step.path
        assert (
            path.read_text().count(step.anchor) == 1
            if step.anchor
            else (step.path.startswith("tests/cli/install/home/") or not path.exists())
        ), step


@pytest.mark.parametrize(("title", "steps"), RECIPES.items(), ids=RECIPES)
def test_a_recipe_names_the_files_that_its_walk_edits(
    title: str, steps: tuple[Step, ...]
) -> None:
    named = files_in_recipe(title)
    assert len(named) <= 6
    unnamed = {step.path for step in steps}
    # A name with a part to fill in matches what the full names leave.
    for path in sorted(named, key=lambda path: "<" in path):
        pattern = re.sub("<[a-z]+>", "[a-z_]+", re.escape(path))
        matches = {edited for edited in unnamed if re.match(pattern, edited)}
        assert matches, path
        unnamed -= matches
    assert unnamed == set()
