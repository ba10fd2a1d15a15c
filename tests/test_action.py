"""The ready check for CI: its file says what it needs, its steps do what they say."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.conftest import Done, Machine, Repo

ROOT = Path(__file__).resolve().parents[1]
FILE = ROOT / "docs/examples/watercooler-health.yml"
TEXT = FILE.read_text(encoding="utf-8")


def steps() -> dict[str, str]:
    """The steps by name, each the lines below its name."""
    _, *parts = re.split(r"^ {6}- name: (.*)\n", TEXT, flags=re.MULTILINE)
    return dict(zip(parts[::2], map(textwrap.dedent, parts[1::2]), strict=True))


def script(name: str) -> str:
    """What a step runs."""
    found = re.fullmatch(r"run: (?:\|\n)?(.*)", steps()[name].strip(), re.DOTALL)
    assert found, name
    return textwrap.dedent(found[1])


def take_step(machine: Machine, name: str, clone: Path) -> Done:
    """Take a step as a runner of GitHub's does."""
    temporary = machine.root / "runner"
    temporary.mkdir(exist_ok=True)
    file = temporary / "step.sh"
    file.write_text(script(name))
    env = {
        "PATH": f"{ROOT / 'bin'}:{machine.env['PATH']}",
        "RUNNER_TEMP": str(temporary),
        "WATERCOOLER_DIR": str(clone),
    }
    return machine.run(["bash", "-e", str(file)], clone, env=env)


def test_it_may_read_and_no_more() -> None:
    assert re.findall(r"^ *permissions:\n((?: +.*\n)+)", TEXT, re.MULTILINE) == [
        "  contents: read\n"
    ]
    assert "secrets." not in TEXT
    assert "GITHUB_TOKEN" not in TEXT


def test_what_it_uses_is_pinned() -> None:
    used = re.findall(r"uses: (\S+)", TEXT)
    assert used
    assert all(re.search(r"@(v\d+\.\d+\.\d+|[0-9a-f]{40})$", one) for one in used)


def test_it_looks_at_the_branch_of_the_store_and_nothing_else() -> None:
    assert "branches: [watercooler/threads]" in TEXT
    assert "ref: watercooler/threads" in steps()["Take the branch"]
    assert "cron:" in TEXT
    assert list(steps()) == ["Take the branch", "Install wc", "Check the threads"]


def test_it_passes_on_a_sound_branch_and_fails_on_a_damaged_one(
    machine: Machine, repo: Repo
) -> None:
    machine.git("init", "-q", "--bare", str(machine.root / "hub.git"), cwd=repo.path)
    repo.git("remote", "add", "origin", str(machine.root / "hub.git"))
    repo.ok("new", "login", "--title", "Passkeys", "--as", "Codex")
    repo.ok("sync")
    clone = machine.root / "clone"
    branch = ("--single-branch", "--branch", "watercooler/threads")
    address = f"file://{machine.root}/hub.git"
    machine.git("clone", "-q", "--depth=1", *branch, address, str(clone), cwd=repo.path)

    done = take_step(machine, "Check the threads", clone)
    assert done.code == 0, done
    assert '"entries": 1' in done.out

    with (clone / "graph/baseline/threads/login/entries.jsonl").open("a") as log:
        log.write("::error::not ours\n")
    machine.git("commit", "-q", "-a", "-m", "Damage", cwd=clone)
    done = take_step(machine, "Check the threads", clone)
    assert done.code == 9, done
    assert '"message": "not JSON"' in done.out
    assert '"fix": ' in done.out
    # A line that begins so would be a command to the runner.
    assert not re.search(r"^\s*::", done.out + done.err, re.MULTILINE)
    assert not machine.git("status", "--porcelain", cwd=clone)
