"""Only a few modules change files; all others call them."""

from __future__ import annotations

import ast
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
LINT = SETTINGS["tool"]["ruff"]["lint"]
WRITERS = {
    path
    for path, rules in LINT["per-file-ignores"].items()
    if path.startswith("src/") and "TID251" in rules
}
# Modules that only write to files which a user named, or which are temporary.
OUTPUTS = {
    "src/wc_cli/commands/exchange/export.py",  # --output
}
WRITING_FLAGS = {"O_WRONLY", "O_RDWR", "O_CREAT", "O_APPEND", "O_TRUNC"}
# The methods of a Path that change files. `replace` is missing: strings have it, too.
PATH_METHODS = {
    *("chmod", "hardlink_to", "mkdir", "rename", "rmdir", "symlink_to"),
    *("touch", "unlink", "write_bytes", "write_text"),
}
OWN_FUNCTIONS = {"durable", "disk"}  # our modules, whose functions have such names
SAMPLES = {
    "os.replace": "import os\n\nos.replace('a', 'b')\n",
    "os.mkdir": "from os import mkdir\n\nmkdir('a')\n",
    "os.unlink": "import os as system\n\nsystem.unlink('a')\n",
    "shutil.rmtree": "import shutil\n\nshutil.rmtree('a')\n",
    "os.posix_spawn": "import os\n\nos.posix_spawn('a', [], {})\n",
    "posix": "from posix import rename\n\nrename('a', 'b')\n",
}


# Rules of ruff itself refuse these.
STARTS = {
    "os.execv": ("S606", "import os\n\nos.execv('a', [])\n"),
    "os.execve": ("S606", "from os import execve\n\nexecve('a', [], {})\n"),
    "os.popen": ("S605", "import os\n\nos.popen('a')\n"),
    "os.system": ("S605", "import os as library\n\nlibrary.system('a')\n"),
}


def refused_names(source: str, path: str) -> list[str]:
    """The banned names that ruff finds in a module at ``path``."""
    return [line.split("`")[1] for line in findings(source, path, "TID251")]


def findings(source: str, path: str, rule: str) -> list[str]:
    """The lines of ruff about a module at ``path``, for one rule."""
    words = ("check", "--select", rule, "--output-format", "concise")
    ruff = subprocess.run(
        [Path(sys.executable).with_name("ruff"), *words, "--stdin-filename", path, "-"],
        cwd=ROOT,
        input=source,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ruff.returncode in {0, 1}, ruff.stderr
    return [line for line in ruff.stdout.splitlines() if rule in line]


@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.parametrize(
    "path",
    [
        "src/wc_core/reading/views/sample.py",
        "src/wc_cli/commands/sample.py",
        "src/wc_cli/ledger/store/writer.py",
        "src/wc_observe/answers/sample.py",
    ],
)
def test_a_module_that_changes_files_is_refused(path: str, name: str) -> None:
    assert refused_names(SAMPLES[name], path) == [name]


@pytest.mark.parametrize("name", STARTS)
def test_a_module_that_becomes_another_program_is_refused(name: str) -> None:
    rule, source = STARTS[name]
    assert len(findings(source, "src/wc_cli/ledger/store/writer.py", rule)) == 1


def test_the_modules_that_may_change_files_are_accepted() -> None:
    assert (
        refused_names(SAMPLES["os.replace"], "src/wc_cli/ledger/store/durable.py") == []
    )


@pytest.mark.parametrize("path", sorted(WRITERS))
def test_each_exception_is_needed(path: str) -> None:
    """By the rule itself, as if the module had another name."""
    source = (ROOT / path).read_text(encoding="utf-8")
    assert refused_names(source, "src/wc_cli/sample.py")


def opens_to_write(tree: ast.Module) -> bool:
    """Whether a module opens a file to write to it, other than /dev/null."""
    ignored = {
        id(part)
        for call in ast.walk(tree)
        if isinstance(call, ast.Call)
        and call.args
        and ast.unparse(call.args[0]) == "os.devnull"
        for part in ast.walk(call)
    }
    nodes = [node for node in ast.walk(tree) if id(node) not in ignored]
    flags = {node.attr for node in nodes if isinstance(node, ast.Attribute)}
    calls = [node for node in nodes if isinstance(node, ast.Call)]
    return bool(flags & WRITING_FLAGS) or any(map(is_open_to_write, calls))


def is_open_to_write(call: ast.Call) -> bool:
    """Whether a call is one of `open` with a mode to write, or one that is unknown, or
    of a method of `Path` that changes files."""
    if isinstance(call.func, ast.Attribute) and call.func.attr in PATH_METHODS:
        # What os has of these names, ruff refuses.
        return ast.unparse(call.func.value) not in {"os", *OWN_FUNCTIONS}
    if ast.unparse(call.func) not in {"open", "os.fdopen", "io.open"}:
        return False
    modes = [*call.args[1:2], *(k.value for k in call.keywords if k.arg == "mode")]
    if not modes:
        return False
    mode = modes[0]
    return not isinstance(mode, ast.Constant) or bool(
        set(str(mode.value)) & set("wax+")
    )


def test_only_these_modules_open_files_to_write() -> None:
    found = {
        str(path.relative_to(ROOT))
        for path in sorted((ROOT / "src").rglob("*.py"))
        if opens_to_write(ast.parse(path.read_text(encoding="utf-8")))
    }
    assert found - WRITERS == OUTPUTS


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("open('a')", False),
        ("open('a', 'rb')", False),
        ("open('a', encoding='utf-8')", False),
        ("open(os.devnull, 'w')", False),
        ("open('a', 'w')", True),
        ("open('a', mode='ab')", True),
        ("open('a', mode)", True),
        ("os.fdopen(handle, 'r+')", True),
        ("os.open('a', os.O_RDONLY)", False),
        ("os.open(os.devnull, os.O_RDWR)", False),
        ("flags = os.O_CREAT | os.O_EXCL", True),
        ("path.write_text('a')", True),
        ("Path('a').unlink()", True),
        ("durable.touch(path, root)", False),
    ],
)
def test_opening_to_write_is_found(source: str, expected: bool) -> None:  # noqa: FBT001
    assert opens_to_write(ast.parse(source)) is expected
