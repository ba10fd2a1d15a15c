"""The files about the project agree with each other and with the code."""

from __future__ import annotations

import ast
import re
import subprocess
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from wc_core.base.version import __version__

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[1]
WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
OURS = ("wc_core", "wc_cli", "wc_observe")
BINARY = {".png"}
# Files of other programs, byte for byte as `wc` may find them.
EXCEPTED = ("tests/cli/install/home/", "tests/recorded/store/")


def text_of(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def tracked_files() -> list[str]:
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True
    )
    names = listed.stdout.decode().split("\0")
    return sorted(name for name in names if name and (ROOT / name).is_file())


def test_files_look_as_editorconfig_says() -> None:
    """The few rules of .editorconfig that can be read off the bytes."""
    assert f"[{{{','.join(EXCEPTED)}}}**]" in text_of(".editorconfig")
    assert f"exclude: ^({'|'.join(EXCEPTED)})" in text_of(".pre-commit-config.yaml")
    faults = []
    for name in tracked_files():
        path = ROOT / name
        if name.startswith(EXCEPTED) or path.suffix in BINARY:
            continue
        content = path.read_bytes()
        content.decode()
        if b"\r" in content or (content and not content.endswith(b"\n")):
            faults.append(f"{name}: line ends")
        if re.search(rb"[ \t]+$", content, re.MULTILINE):
            faults.append(f"{name}: trailing whitespace")
        indented = path.suffix in {".py", ".js", ".mjs", ".css", ".yml", ".toml"}
        if indented and re.search(rb"^ *\t", content, re.MULTILINE):
            faults.append(f"{name}: tabs")
    assert faults == []


def test_the_changelog_has_a_section_for_this_version() -> None:
    sections = re.findall(r"^## \[(.*?)\](.*)$", text_of("CHANGELOG.md"), re.MULTILINE)
    (first, rest), *released = sections
    assert (first, rest) == ("Unreleased", "")
    assert __version__ in [version for version, _ in released]
    day = r" - (\d{4}-\d\d-\d\d|not yet published)"
    assert [date for _, date in released if not re.fullmatch(day, date)] == []


def test_ci_runs_every_python_that_the_package_names() -> None:
    named = re.findall(
        r"Python :: (3\.\d+)", "\n".join(PYPROJECT["project"]["classifiers"])
    )
    matrix = re.search(r"python: \[(.*)\]", text_of(".github/workflows/ci.yml"))
    assert matrix
    assert re.findall(r'"([\d.]+)"', matrix[1]) == named
    assert PYPROJECT["project"]["requires-python"] == f">={named[0]}"


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_actions_are_pinned_by_commit(path: Path) -> None:
    used = re.findall(r"uses: (.*)", path.read_text(encoding="utf-8"))
    assert used
    pinned = re.compile(r"[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+|\./\.github/.*\.yml")
    assert [action for action in used if not pinned.fullmatch(action)] == []


def jobs_of(workflow: str) -> dict[str, str]:
    """The jobs of a workflow by name, each with its text."""
    _, _, jobs = workflow.partition("\njobs:\n")
    _, *parts = re.split(r"^  (\w+):\n", jobs, flags=re.MULTILINE)
    return dict(zip(parts[::2], parts[1::2], strict=True))


def permissions_of(text: str) -> dict[str, str]:
    block = re.search(r"^ *permissions:\n((?: +[\w-]+: \w+\n)+)", text, re.MULTILINE)
    return dict(re.findall(r"([\w-]+): (\w+)", block[1])) if block else {}


def test_only_the_job_that_needs_a_permission_has_it() -> None:
    release = text_of(".github/workflows/release.yml")
    assert "\npermissions: {}\n" in release
    jobs = jobs_of(release)
    assert {name: permissions_of(job) for name, job in jobs.items()} == {
        "test": {"contents": "read"},
        "build": {"contents": "read"},
        "attest": {"attestations": "write", "id-token": "write"},
        "publish": {"id-token": "write"},
        "announce": {"contents": "write"},
    }
    assert "name: pypi\n" in jobs["publish"]
    # Only a build that passed the tests is attested, only that is published.
    assert "needs: [test, build]" in jobs["attest"]
    assert "needs: attest" in jobs["publish"]
    ci = text_of(".github/workflows/ci.yml")
    assert permissions_of(ci) == {"contents": "read"}
    assert all(permissions_of(job) == {} for job in jobs_of(ci).values())
    for text in (release, ci):
        assert "secrets." not in text
        # Nothing is pasted into a script: a title or a tag could be a command.
        pasted = {
            line.split(":")[0].strip() for line in text.splitlines() if "${{" in line
        }
        assert pasted <= {
            *("name", "group", "cancel-in-progress", "runs-on", "python-version"),
            *("GH_REPO", "GH_TOKEN", "LIBRARIES"),
        }


def test_scripts_of_the_workflows_exist() -> None:
    for path in WORKFLOWS:
        workflow = path.read_text(encoding="utf-8")
        for script in re.findall(r"(?<![\w/])(?:\./)?(bin/[\w-]+)", workflow):
            assert (ROOT / script).stat().st_mode & 0o111, script


def private_names(tree: ast.Module) -> Iterator[str]:
    """Private modules of other people's packages that a module imports."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            package, *parts = node.module.split(".")
            if package not in OURS and any(re.match("_[a-z]", part) for part in parts):
                yield ".".join([package, *parts][:2])


def private_uses() -> set[tuple[str, str]]:
    """Each module of ours with a private name of other people's that it uses.

    An attribute counts where ruff was told to accept it (SLF001), unless a word
    behind that says that it is our own.
    """
    uses = set()
    for path in ROOT.glob("src/**/*.py"):
        source = path.read_text(encoding="utf-8")
        module = str(path.relative_to(ROOT))
        uses |= {(module, name) for name in private_names(ast.parse(source))}
        for line in source.splitlines():
            if re.search(r"noqa: SLF001(?! - one of us)", line):
                attribute = re.search(r"\.(_[a-z]\w*)", line)
                assert attribute, f"{module}: {line}"
                uses.add((module, attribute[1]))
    return uses


def test_every_use_of_a_private_name_is_in_the_table() -> None:
    """The table under "When you raise a bound" in CONTRIBUTING.md, with its tests."""
    _, _, section = text_of("CONTRIBUTING.md").partition("## When you raise a bound\n")
    rows = re.findall(r"^\| `(.*?)` \| `(.*?)` \|.*\| `(.*?)`", section, re.MULTILINE)
    assert {(module, name) for module, name, _ in rows} == private_uses()
    for _, _, test in rows:
        name, _, function = test.partition("::")
        assert f"def {function}(" in text_of(name), test


def requirements_of(name: str) -> dict[str, str]:
    """The hashes of each requirement of a lock."""
    blocks = re.split(r"(?m)^(?=[a-z0-9])", text_of(name))[1:]
    return {block.split()[0]: block.partition("\n")[2] for block in blocks}


@pytest.mark.parametrize("lock", ["requirements.lock", "requirements-dev.lock"])
def test_packages_with_extras_are_locked_without_them_too(lock: str) -> None:
    """Pip 23.0, which Debian 12 has, installs the lock only then."""
    locked = requirements_of(lock)
    with_extras = [name for name in locked if "[" in name]
    assert with_extras
    for name in with_extras:
        assert locked[re.sub(r"\[.*\]", "", name)] == locked[name]
