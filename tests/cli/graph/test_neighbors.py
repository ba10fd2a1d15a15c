"""``wc neighbors``, by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.contract.inprocess import Here
from wc_core.base.layout import Layout
from wc_core.edits.graph import kept

if TYPE_CHECKING:
    from tests.conftest import Machine

FILES = {
    "src/auth.py": "from src.db import connect\nclass Login:\n  def check(self): 0\n"
    "def out(): connect()\n",
    "src/db.py": "def connect(): 0\n",
    "app.py": "from src.auth import Login\nLogin().check()\n",
    "web/a.ts": "import './b'\n",
    "web/b.ts": "",
    "notes.txt": "auth",
}


@pytest.fixture
def repo(machine: Machine) -> Here:
    repo = Here(machine, machine.repo().path)
    write(repo, FILES)
    repo.git("add", ".")
    repo.git("commit", "-qm", "code")
    return repo


def write(repo: Here, files: dict[str, str]) -> None:
    for path, text in files.items():
        (repo.path / path).parent.mkdir(parents=True, exist_ok=True)
        (repo.path / path).write_text(text)


def used_by(repo: Here, target: str) -> dict[str, Any]:
    files: dict[str, Any] = repo.json("neighbors", target)["used_by"]["files"]
    return files


def test_both_sides_are_shown(repo: Here) -> None:
    assert repo.ok("neighbors", "src/auth.py").out.splitlines() == [
        "src/auth.py",
        "  uses 1 file",
        "    src/db.py · connect",
        "  used by 1 file",
        "    app.py · Login, check",
    ]
    fields = repo.json("neighbors", "src/auth.py::Login.check")
    assert fields["target"] == "src/auth.py::Login.check"
    assert fields["used_by"] == {"total": 1, "files": {"app.py": ["Login", "check"]}}
    assert used_by(repo, "src/auth.py::out") == {}
    assert used_by(repo, "src") == {"app.py": ["Login", "check"]}
    assert used_by(repo, "web/b.ts") == {"web/a.ts": []}


def test_it_is_the_worktree_that_counts(repo: Here) -> None:
    write(repo, {"new.py": "from src import auth\nauth.out()\n"})
    (repo.path / "app.py").write_text("print(1)\n")
    assert used_by(repo, "src/auth.py") == {"new.py": ["out"]}
    (repo.path / "new.py").unlink()
    assert used_by(repo, "src/auth.py") == {}
    repo.git("checkout", "-q", "app.py")
    assert used_by(repo, "src/auth.py") == {"app.py": ["Login", "check"]}
    (repo.path / ".gitignore").write_text("ignored.py\n")
    write(repo, {"ignored.py": "import src.auth\n"})
    assert list(used_by(repo, "src/auth.py")) == ["app.py"]


@pytest.mark.parametrize("store", [True, False])
def test_each_worktree_has_its_own(repo: Here, store: bool) -> None:  # noqa: FBT001
    if store:
        repo.ok("new", "t", "--title", "T")
    other = repo.worktree("app-wt-login")
    write(other, {"more.py": "import src.db\n"})
    assert list(used_by(other, "src/db.py")) == ["more.py", "src/auth.py"]
    assert list(used_by(repo, "src/db.py")) == ["src/auth.py"]
    assert list(used_by(other, "src/db.py")) == ["more.py", "src/auth.py"]


def test_it_is_kept_and_what_has_not_changed_is_not_parsed_again(repo: Here) -> None:
    repo.ok("new", "t", "--title", "T")
    repo.ok("neighbors", "app.py")
    layout = Layout(str(repo.store))
    graph = kept.load(layout, "")
    assert graph is not None
    assert graph.head == repo.git("rev-parse", "HEAD").strip()
    path = Path(layout.graph_facts)
    facts = json.loads(path.read_text())
    # The cache is believed: what it has is not parsed.
    row = [[], [["src.db", "connect"]], "", {}]
    facts["facts"] = dict.fromkeys(facts["facts"], row)
    path.write_text(json.dumps(facts))
    write(repo, {"app.py": "import src.auth\n"})
    assert list(used_by(repo, "src/auth.py")) == ["app.py"]
    assert list(used_by(repo, "src/db.py")) == ["src/auth.py"]


def test_damaged_files_are_made_again(repo: Here) -> None:
    repo.ok("new", "t", "--title", "T")
    expected = used_by(repo, "src/auth.py")
    layout = Layout(str(repo.store))
    kept_graph = Path(layout.graph(""))
    for path in (Path(layout.graph_facts), kept_graph):
        for damage in ("", "[", '{"v": 1}', "null"):
            path.write_text(damage)
            if path != kept_graph:
                kept_graph.unlink()
            assert used_by(repo, "src/auth.py") == expected


def test_wrong_input(repo: Here) -> None:
    for words, code, message in (
        (("neighbors", "notes.txt"), 3, "wc does not parse files of its kind"),
        (("neighbors", "missing.py"), 3, "git has no such file here"),
        (("neighbors", "src/auth.py::missing"), 3, "does not define missing"),
        (("neighbors", "../x.py"), 2, "outside of this worktree"),
        (("neighbors",), 2, ""),
    ):
        assert message in repo.fails(code, *words)


def test_names_of_any_kind(repo: Here) -> None:
    write(repo, {"a b\n::é.py": "import src.db\n", "link.py": ""})
    (repo.path / "link.py").unlink()
    (repo.path / "link.py").symlink_to("app.py")
    assert "a b" in "".join(used_by(repo, "src/db.py"))
    repo.git("add", ".")
    assert len(used_by(repo, "src/db.py")) == 2
