"""Every snippet of the documentation does what its page says."""

from __future__ import annotations

import json
import re
import shlex
import tomllib
from typing import TYPE_CHECKING, Any

import pytest

from tests.snippets import (
    ROOT,
    TOP_PAGES,
    Block,
    Session,
    Step,
    blocks,
    matches,
    steps,
)
from wc_core.ledger.threads import settings
from wc_observe.http import options

if TYPE_CHECKING:
    from pathlib import Path

PAGES = [
    *TOP_PAGES,
    *sorted(str(page.relative_to(ROOT)) for page in (ROOT / "docs").glob("**/*.md")),
]
RUN = {"sh", "console", "python"}
# What these are is said by tests of their own: tests/observe/http/test_docs.py and
# tests/cli/install/test_shells.py.
OF_OTHER_TOOLS = {"caddyfile", "dockerfile", "ini", "nginx", "yaml"}
OF_OTHER_TOOLS |= {"bash", "fish", "tmux", "zsh"}

# Blocks that are not run here, by page, and why. They are as few as possible.
ELSEWHERE = {
    "CONTRIBUTING.md": 6,  # the checks; fetches pre-commit; locks; publishes
    "README.md": 2,  # installing, which asks a person; the demo
    "docs/commands.md": 8,  # go on until ^C, or a ball comes; a database; ask
    "docs/agents.md": 5,  # agents that are called or started
    "docs/install.md": 6,  # fetches packages; asks a person, or Claude Code
    "docs/observe.md": 7,  # installs clients; servers that stay; a container
    "docs/performance.md": 2,  # half an hour
    "docs/reliability.md": 2,  # hours
    "docs/search.md": 1,  # a graph database
    "docs/seeing.md": 3,  # live; stays, for a browser
    "docs/sync.md": 4,  # until ^C; git filter-repo; clients' files; the cloud
}
# What a reader puts in the place of a page's words in capitals, and of an address.
STANDS_FOR = {
    "docs/agents.md": {"STORE": "{repo.store}"},
    "docs/daily.md": {"STORE": "{repo.store}"},
    "docs/commands.md": {"git@example.org:team/threads.git": "{home}/threads.git"},
    "docs/sync.md": {
        "CHECKOUT": str(ROOT),
        "STORE": "{repo.store}",
        "URL": "{home}/hub.git",
    },
}


def all_blocks() -> list[Block]:
    return [block for page in PAGES for block in blocks(page)]


def is_run(block: Block) -> bool:
    return block.language in RUN and "elsewhere" not in block.words


def sessions() -> list[list[Block]]:
    """The blocks that are run, by page and by each new beginning in one."""
    found: list[list[Block]] = []
    for block in filter(is_run, all_blocks()):
        goes_on = found and found[-1][-1].page == block.page
        if not goes_on or "fresh" in block.words:
            found.append([])
        found[-1].append(block)
    return found


@pytest.mark.processes
@pytest.mark.parametrize("shown", sessions(), ids=lambda shown: shown[0].place)
def test_what_a_page_shows_happens(shown: list[Block], tmp_path: Path) -> None:
    session = Session(tmp_path, STANDS_FOR.get(shown[0].page, {}))
    for block in shown:
        session.run(block)


def test_what_is_run_elsewhere_is_counted() -> None:
    found: dict[str, int] = {}
    for block in all_blocks():
        if "elsewhere" in block.words:
            found[block.page] = found.get(block.page, 0) + 1
    assert found == ELSEWHERE


@pytest.mark.parametrize("page", PAGES)
def test_every_block_is_of_a_kind_that_is_checked(page: str) -> None:
    known = RUN | OF_OTHER_TOOLS | {"json", "toml", "text"}
    for block in blocks(page):
        assert block.language in known, f"{block.place}: see CONTRIBUTING.md#snippets"
        assert {*block.words} <= {"fresh", "elsewhere"}, block.place


@pytest.mark.parametrize("page", PAGES)
def test_a_reader_sees_everything_that_an_example_needs(page: str) -> None:
    """What is run is what is shown: nothing is prepared in a comment, and the text
    says where an example begins in a new repository."""
    text = (ROOT / page).read_text(encoding="utf-8")
    assert re.findall(r"^<!-- *run.*", text, re.MULTILINE) == []
    for block in blocks(page):
        if "fresh" in block.words:
            assert "new repository" in block.before, block.place


def test_drawings_hold_no_commands() -> None:
    shown = [block for block in all_blocks() if block.language == "text"]
    typed = re.compile(r"^(?:(?:\S+ )?\$ |wc[ -])", re.MULTILINE)
    assert [block.place for block in shown if typed.search(block.text)] == []


@pytest.mark.parametrize("page", PAGES)
def test_formats_can_be_read(page: str) -> None:
    for block in blocks(page):
        if block.language == "json":
            check_settings_of_a_client(json.loads(block.text))
        elif block.language == "toml":
            tomllib.loads(block.text)


def check_settings_of_a_client(value: Any) -> None:
    """That what a client is to start is ours, with words it understands."""
    for fields in dictionaries(value):
        said = fields.get("command", [])
        words = shlex.split(said) if isinstance(said, str) else said
        words = [one for one in words if not re.match(r"[A-Z_]+=", one)]
        words = [*words, *fields.get("args", [])]
        if words[:1] == ["wc-statusline"]:
            script = (ROOT / "bin/wc-statusline").read_text()
            assert [one for one in words[1:] if f" {one}) " not in script] == []
        elif words[1:] and words[0] == "wc-observe":
            options.parser().parse_args(words[1:])


def dictionaries(value: Any) -> list[dict[str, Any]]:
    """Each JSON object in a value."""
    inner = value.values() if isinstance(value, dict) else value
    if isinstance(value, str) or not hasattr(value, "__iter__"):
        return []
    found = [one for part in inner for one in dictionaries(part)]
    return [value, *found] if isinstance(value, dict) else found


@pytest.mark.parametrize("page", PAGES)
def test_settings_of_ours_are_understood(page: str, tmp_path: Path) -> None:
    for block in blocks(page):
        if block.language == "toml" and is_ours(tomllib.loads(block.text)):
            (tmp_path / "config.toml").write_text(block.text)
            assert settings.load(str(tmp_path), {}).damage is None, block.place


def is_ours(fields: dict[str, Any]) -> bool:
    """Whether this is the store's config.toml, and not a file of a client."""
    return bool(fields.keys() & {"ball", "sync", "identity", "counterparts", "git"})


@pytest.mark.parametrize(
    ("shown", "printed", "same"),
    [
        ("saved login #0 …", "saved login #0 · ball: Pat", True),
        ("saved login #1 …", "saved login #0 · ball: Pat", False),
        (
            "at 2026-01-31T12:00:00Z by 7b21979",
            "at 2026-11-22T03:22:18.077Z by 00ab3c4",
            True,
        ),
        ("on main (314f8c4)", "on main (249734d)", True),
        ("on main (314f8c4)", "on main (bdfacee)", True),
        ("login  now  Pat", "login 3 s Pat", True),
        ("one\n…\nend", "one\ntwo\nthree\nend\n", True),
        ("one\n…\nend", "one\nend", True),
        ("one\n…\nend", "one\ntwo", False),
        ("", "a word", False),
    ],
)
def test_what_is_the_same_text(shown: str, printed: str, *, same: bool) -> None:
    assert matches(shown, printed) is same


def test_a_console_has_commands_with_what_they_print() -> None:
    text = "$ wc list # exit 4\none\n\ntwo\nlogin $ wc \\\n  read\n"
    first, second = steps(Block("page", 1, "console", (), text))
    assert first == Step("wc list", "", 4, "one\n\ntwo")
    assert second == Step("wc  read", "login", 0, "")
