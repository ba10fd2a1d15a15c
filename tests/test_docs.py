"""The documentation against the code: what it names has to be there."""

from __future__ import annotations

import ast
import inspect
import re
import shlex
import subprocess
import sys
import tomllib
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests import snippets
from wc_cli.ledger.sync import wireerrors
from wc_cli.run import table
from wc_core.base import errors, layout
from wc_observe.http import options
from wc_observe.mcp import insighttools, prompts, resources, server
from wc_observe.web import options as weboptions

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[1]
PAGES = [
    *(ROOT / name for name in snippets.TOP_PAGES),
    *sorted((ROOT / "docs").glob("**/*.md")),
]
NAMES = [str(page.relative_to(ROOT)) for page in PAGES]
PACKAGES = ("wc_core", "wc_cli", "wc_observe")
# What a person can find their way in: pages of docs/, lines of the front page.
MOST_PAGES, MOST_LINES = 24, 130

# What the examples run that is not ours.
PROGRAMS = {"cd", "claude", "git", "mkdir", "openssl", "pip", "pipx", "podman"}
PROGRAMS |= {"codex", "gh", "pre-commit", "python", "tmux", "uv"}
KEYWORDS = {"while", "do", "done"}


def text_of(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def present_text(name: str) -> str:
    """A page, without the part about what went."""
    return text_of(name).partition("\n## What went\n")[0]


def blocks(text: str, language: str = "sh") -> list[str]:
    found = re.findall(
        rf"^```{language}\b[^\n]*\n(.*?)^```$", text, re.MULTILINE | re.DOTALL
    )
    return [line for block in found for line in block.splitlines()]


def prose(text: str) -> str:
    return re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)


def spans(text: str) -> list[str]:
    return re.findall(r"`([^`\n]+)`", prose(text))


@cache
def flags(name: str) -> set[str]:
    declared = table.load(name)
    assert declared is not None, name
    known = {flag for param in declared.options.params() for flag in param.flags}
    return known | {"--help", "-h"}


def check_command(words: list[str]) -> None:
    """Of ``wc NAME --option …``: that there is such a command and option."""
    name, *rest = words[1:] or [""]
    if not name or name[0] in "-*…" or name.isupper():
        return  # the system's, or no command at all
    assert table.load(name) is not None, words
    said = {word.partition("=")[0] for word in rest if re.match(r"--?[a-z]", word)}
    assert said <= flags(name), words


def commands_in(line: str) -> list[list[str]]:
    """The commands of a line of shell, without its comment."""
    words = [one for one in shlex.split(line, comments=True) if one not in KEYWORDS]
    found: list[list[str]] = [[]]
    for word in words:
        if word in {"|", "&&", ">", ";"}:
            found.append([])
        else:
            found[-1].append(word)
    return [one for one in found if one]


def test_the_reference_is_what_the_code_says() -> None:
    script = ROOT / "docs/make_reference.py"
    done = subprocess.run(
        [sys.executable, script, "--check"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", NAMES)
def test_examples_run_what_there_is(name: str) -> None:
    """Those that `test_snippets` does not run."""
    shown = [one for one in snippets.blocks(name) if "elsewhere" in one.words]
    for line in (line for one in shown for line in one.text.splitlines()):
        program = ""
        for words in commands_in(line):
            while "=" in words[0]:  # a variable for the one command
                words.pop(0)
            program, before = words[0], program
            ours = program.removeprefix("./")
            if ours in {"wc", "bin/wc", "wc-cli"}:
                check_command(words)
            elif ours == "wc-observe":
                page = words[1:2] == ["web"]
                known = weboptions if page else options
                known.parser().parse_args(words[1 + page :])
            elif "/" in ours and not before:
                assert (ROOT / ours).is_file(), line
            elif not before:
                assert program in PROGRAMS, line


@pytest.mark.parametrize("name", NAMES)
def test_commands_in_the_text_exist(name: str) -> None:
    for span in spans(present_text(name)):
        if span.startswith(("wc ", "bin/wc ")):
            check_command(span.split())


@pytest.mark.parametrize("name", NAMES)
def test_options_in_the_text_exist(name: str) -> None:
    everything = set().union(*(flags(one) for one in table.COMMANDS))
    for words in (options.parser(), weboptions.parser()):
        everything |= set(words._option_string_actions)
    names = ("wc-statusline", "bench", "test")
    scripts = "".join(text_of(f"bin/{name}") for name in names)
    for span in spans(present_text(name)):
        option = re.match(r"--[a-z][a-z-]*", span)
        if option:
            assert option[0] in everything or option[0] in scripts, span


@pytest.mark.parametrize("name", NAMES)
def test_codes_and_variables_exist(name: str) -> None:
    text = present_text(name)
    known = {one.code for one in errors.WcError.__subclasses__()} | {"INTERNAL"}
    numbers = {one.exit_code for one in errors.WcError.__subclasses__()} | {0, 1, 130}
    for number, code in re.findall(r"^\| (\d+) \| ([A-Z_]*) \|", text, re.MULTILINE):
        assert int(number) in numbers
        assert code in known | {""}
    for number in re.findall(r"\bexits? (?:status )?(\d+)", text):
        assert int(number) in numbers
    sources = source_text()
    for variable in set(re.findall(r"\bWATERCOOLER_\w+", text)):
        ours = variable.replace("WATERCOOLER_GIT_", "")
        assert variable in sources or f'"{ours}"' in sources, variable


@cache
def source_text() -> str:
    files = [*ROOT.glob("src/**/*.py"), ROOT / "bin/wc-statusline"]
    return "".join(path.read_text(encoding="utf-8") for path in files)


def addresses_of_headings(text: str) -> list[str]:
    """The address that a git host gives each heading."""
    heads = re.findall(r"^#+ (.*)$", prose(text), re.MULTILINE)
    kept = (re.sub(r"[^\w\- ]", "", head.lower()) for head in heads)
    return [one.replace(" ", "-") for one in kept]


def anchors(text: str) -> set[str]:
    return set(addresses_of_headings(text))


@pytest.mark.parametrize("name", NAMES)
def test_links_lead_somewhere(name: str) -> None:
    for link in re.findall(r"\]\(([^)]+)\)", prose(text_of(name))):
        if link.startswith("https://"):
            continue
        path, _, anchor = link.partition("#")
        target = (ROOT / name).parent / path if path else ROOT / name
        assert target.exists(), link
        if anchor:
            assert anchor in anchors(target.read_text(encoding="utf-8")), link


@pytest.mark.parametrize("name", NAMES)
def test_headings_of_a_page_have_different_addresses(name: str) -> None:
    """A git host would number the second one, and its number changes with the page."""
    heads = addresses_of_headings(text_of(name))
    assert len(heads) == len(set(heads))


@cache
def anchors_of(name: str) -> set[str]:
    return anchors(text_of(name))


def address_exists(address: str) -> bool:
    name, _, anchor = address.partition("#")
    return (ROOT / name).is_file() and (not anchor or anchor in anchors_of(name))


def test_an_old_address_exists_or_says_where_it_went() -> None:
    """What someone has linked to can still be found."""
    moved = tomllib.loads(text_of("docs/moved.toml"))
    lost, kept = [], []
    for address in text_of("tests/addresses.txt").split():
        if not address_exists(address) and address not in moved:
            lost.append(address)
        elif address_exists(address) and address in moved:
            kept.append(address)
    assert lost == [], "say in docs/moved.toml where they went"
    assert kept == [], "remove them from docs/moved.toml, because they exist"
    assert [new for new in moved.values() if not address_exists(new)] == []
    assert [*moved] == sorted(moved)


NAMED = re.compile(
    r"(?<![\w/])(?:docs/(?:decisions/)?[\w-]+|CONTRIBUTING)\.md(?:#[\w-]+)?"
)


@pytest.mark.parametrize("files", ["src/**/*.py", "bin/*", "docs/*.py", ".github/**/*"])
def test_pages_that_the_code_names_exist(files: str) -> None:
    paths = [path for path in ROOT.glob(files) if path.is_file()]
    texts = [path.read_text(encoding="utf-8") for path in paths]
    named = {one for text in texts for one in NAMED.findall(text)}
    assert named
    assert {one for one in named if not address_exists(one)} == set()


def test_the_index_leads_to_every_document() -> None:
    """Or to the index of the folder that it is in; the front page leads to it."""
    index = "docs/README.md"
    linked = re.findall(r"\]\(([\w/]+\.md)\)", text_of(index))
    documents = {
        name for name in NAMES if re.fullmatch(r"docs/(\w+|\w+/README)\.md", name)
    }
    assert documents - {index} == {f"docs/{one}" for one in linked}
    assert len([*(ROOT / "docs").glob("*.md")]) <= MOST_PAGES
    assert f"]({index})" in text_of("README.md")


def test_every_word_that_is_no_command_says_what_to_use_instead() -> None:
    _, _, went = text_of("docs/charter.md").partition("\n## What went\n")
    rows = re.findall(r"^\| `([\w-]+)` \| `([^`]+)` \|$", went, re.MULTILINE)
    assert table.INSTEAD.items() <= {*rows}


def test_the_front_page_is_short() -> None:
    lines = text_of("README.md").splitlines()
    assert len(lines) < MOST_LINES
    assert {"./bin/wc demo", "./bin/test"} <= {*spans(text_of("README.md"))}


def test_the_index_of_decisions_has_them_all() -> None:
    index = text_of("docs/decisions/README.md")
    rows = re.findall(r"^\| \[(\d{4})\]\(((\d{4})-[\w-]+\.md)\)", index, re.MULTILINE)
    files = sorted(path.name for path in (ROOT / "docs/decisions").glob("0*.md"))
    assert [name for _, name, _ in rows] == files
    assert [number for number, *_ in rows] == [number for *_, number in rows]
    for name in files:
        heads = re.findall(
            r"^## (.*)$", text_of(f"docs/decisions/{name}"), re.MULTILINE
        )
        assert heads == ["Context", "Decision", "Measured", "Consequences"], name


@pytest.mark.parametrize("name", NAMES)
def test_files_in_the_text_exist(name: str) -> None:
    for span in spans(text_of(name)):
        ours = re.fullmatch(r"(?:\./)?((?:src|tests|docs|bin|\.ci)/[\w./-]+)", span)
        if ours:
            assert (ROOT / ours[1]).exists(), span
        module = re.fullmatch(r"wc_(?:core|cli|observe)/[\w/]+\.py", span)
        if module:
            assert (ROOT / "src" / span).is_file(), span


def mapped(package: str) -> list[str]:
    """The rooms of a package, in the order of its table in the map of the code."""
    text = text_of("docs/architecture.md")
    start = re.search(rf"^`{package}`[^\n]*:$", text, re.MULTILINE)
    assert start, package
    rows = re.match(r"\s*((?:\|.*\n)+)", text[start.end() :])
    assert rows
    firsts = [line.split("|")[1] for line in rows[1].splitlines()[2:]]
    return [room for first in firsts for room in re.findall(r"`(\w+)`", first)]


# Wings that are one room: what is in them may be imported in any order.
ONE_ROOM = {
    *("wc_cli.commands", "wc_core.lookup"),
    *("wc_observe.answers", "wc_observe.front", "wc_observe.http"),
    *("wc_observe.mcp", "wc_observe.web"),
}


def layered() -> dict[str, list[str]]:
    """The packages and wings, with their layers: those that import-linter checks."""
    contracts = tomllib.loads(text_of("pyproject.toml"))["tool"]["importlinter"]
    return {
        container: contract["layers"]
        for contract in contracts["contracts"]
        for container in contract.get("containers", ())
    }


@pytest.mark.parametrize("container", layered())
def test_the_map_has_every_room_once(container: str) -> None:
    folder = ROOT / "src" / container.replace(".", "/")
    modules = [path.stem for path in folder.glob("*.py")]
    packages = [path.parent.name for path in folder.glob("*/__init__.py")]
    rooms = sorted({*modules, *packages} - {"__init__"})
    assert sorted(mapped(container)) == rooms


@pytest.mark.parametrize("container", layered())
def test_the_map_is_in_the_order_of_the_layers(container: str) -> None:
    floors = {
        room: floor
        for floor, row in enumerate(layered()[container])
        for room in row.replace(" ", "").split("|")
    }
    order = [floors[room] for room in mapped(container)]
    assert order == sorted(order)


def test_a_wing_is_one_room_or_has_layers_of_its_own() -> None:
    wings = {
        f"{package}.{path.parent.name}"
        for package in PACKAGES
        for path in (ROOT / "src" / package).glob("*/__init__.py")
    }
    assert wings == (layered().keys() - {*PACKAGES}) | ONE_ROOM


def rooms() -> list[str]:
    packages = (ROOT / "src").glob("*/**/__init__.py")
    return [str(path.parent.relative_to(ROOT)) for path in packages]


@pytest.mark.parametrize("room", rooms())
def test_a_room_says_what_it_is_for(room: str) -> None:
    module = ast.parse(text_of(f"{room}/__init__.py"))
    assert len(module.body) == 1, "an __init__ that runs code costs every start"
    purpose, _, limits = (ast.get_docstring(module) or "").partition("\n\n")
    assert purpose
    if room.count("/") > 1:
        assert limits, "say what the room may use and what it must not know"


def test_the_page_of_the_server_has_all_that_it_offers() -> None:
    page = text_of("docs/observe.md")
    rows = re.findall(r"^\| `(\w+)\(([^)]*)\)`", page, re.MULTILINE)
    said = {name: [one for one in words.split(", ") if one] for name, words in rows}
    real = {
        spec.name: [*inspect.signature(spec.answer).parameters]
        for spec in (*server.USUAL_SPECS, *insighttools.WIDE_SPECS)
    }
    real |= {
        answer.__name__: [one.name for one in arguments]
        for answer, _, arguments in prompts._PROMPTS
    }
    assert said == real
    addresses = re.findall(r"^\| `watercooler://([^`]+)`", page, re.MULTILINE)
    assert addresses == [path for path, *_ in resources._RESOURCES]


def test_the_settings_shown_are_read_without_complaint(tmp_path: Path) -> None:
    from wc_core.ledger.threads import settings

    example = "\n".join(blocks(text_of("docs/store.md"), "toml"))
    (tmp_path / "config.toml").write_text(example, encoding="utf-8")
    found = settings.load(str(tmp_path), {})
    assert found.damage is None
    assert found.counterparts["codex"] == ("Claude Code",)
    assert found.topic_counterparts["login"]["codex"] == ("Cursor",)
    assert found.directory.aliases["cc"] == "Claude Code"


def test_every_setting_is_shown() -> None:
    from wc_core.ledger.threads.settings import Settings

    tables = tomllib.loads("\n".join(blocks(text_of("docs/store.md"), "toml")))
    shown = {*tables, *(key for table in tables.values() for key in table)}
    keys = {"directory": "aliases", "topic_counterparts": "topics"}
    keys |= {"carry": "mode", "agents_branches": "from"}
    keys |= {f"land_{key}": key for key in ("needs", "method", "check")}
    # The last two only come from the files of older versions.
    fields = set(Settings._fields) - {
        "damage",
        "ignored",
        "harvest",
        "bounces",
        "neighbor",
    }
    assert {keys.get(field, field) for field in fields} <= shown


def pieces(node: ast.AST) -> Iterator[str]:
    """The texts in a piece of code; what is put into one is a NUL in it."""
    if isinstance(node, ast.JoinedStr):
        yield "".join(map(piece_of, node.values))
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    for child in ast.iter_child_nodes(node):
        yield from pieces(child)


def piece_of(node: ast.expr) -> str:
    if isinstance(node, ast.Constant):
        return str(node.value)
    name = ast.unparse(node)
    return layout.BRANCH if name == "{BRANCH}" else "\0"


@cache
def pieces_of_code() -> frozenset[str]:
    files = (ROOT / "src").glob("wc_c*/**/*.py")
    trees = (ast.parse(path.read_text(encoding="utf-8")) for path in files)
    return frozenset(piece for tree in trees for piece in pieces(tree))


def is_said(words: str) -> bool:
    """Whether the code can print this: in one piece, by single words, or as
    something of git's that it knows."""
    known = pieces_of_code()
    whole = {piece.strip() for piece in known}
    return (
        any(words in piece for piece in known)
        or all(word in whole for word in words.split())
        or any(re.search(pattern, words) for _, pattern, _ in wireerrors._SORTS)
    )


def messages_of_exchange() -> list[str]:
    places = (
        ("sync.md", "What the messages mean"),
        ("troubleshooting.md", "By the note of a receipt"),
    )
    texts = (
        text_of(f"docs/{name}").partition(f"\n## {head}\n") for name, head in places
    )
    parts = (rest.partition("\n## ")[0] for *_, rest in texts)
    rows = re.findall(r"^\| (`.*?) \| ", "".join(parts), re.MULTILINE)
    return [span for row in rows for span in spans(row)]


@pytest.mark.parametrize("message", messages_of_exchange())
def test_messages_are_what_the_code_says(message: str) -> None:
    parts = re.split(r"…|\b[A-Z][A-Z_]+\b|\bN\b", message.removeprefix("note: "))
    words = [word for part in parts if (word := part.strip(" :;,.·()"))]
    assert words
    assert [word for word in words if not is_said(word)] == []


@pytest.mark.parametrize(
    "module",
    [
        "commands/sync",
        *(f"ledger/sync/{name}" for name in ("exchanger", "wire", "wireerrors")),
    ],
)
def test_what_an_exchange_fails_with_is_explained(module: str) -> None:
    page = text_of("docs/sync.md")
    tree = ast.parse(text_of(f"src/wc_cli/{module}.py"))
    for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
        if not ast.unparse(call.func).endswith("Error") or not call.args:
            continue
        said = next(pieces(call.args[0]), "")
        longest = max(re.split(r"\0", said), key=len).strip(" :;,.(")
        if " " in longest and not longest.startswith("--"):
            assert longest in page, said


def test_the_picture_is_there() -> None:
    assert text_of("docs/session.svg").startswith("<svg")


def test_figures_on_the_front_page_were_measured() -> None:
    figures = re.findall(r"\b\d+\.\d+ ms\b", text_of("README.md"))
    assert figures
    measured = text_of("docs/performance.md")
    assert [one for one in figures if one not in measured] == []
