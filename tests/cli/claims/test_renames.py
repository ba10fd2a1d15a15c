"""A claim follows what its holder renames."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import pytest

from tests.contract.inprocess import Here
from wc_cli.ledger.branch.git import Git

if TYPE_CHECKING:
    from tests.conftest import Machine

CODEX, CLAUDE = ("--as", "Codex"), ("--as", "Claude Code")
FILES = ("src/a.py", "src/b.py", "lib/old.py", "note.txt")


@pytest.fixture
def repo(machine: Machine) -> Here:
    repo = Here(machine, machine.repo().path)
    for name in FILES:
        path = repo.path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"def f():\n    return {name!r}\n" * 9)
    repo.git("add", ".")
    repo.git("commit", "-qm", "code")
    return repo


@pytest.fixture
def login(repo: Here) -> Here:
    return repo.worktree("app-wt-login")


@pytest.fixture
def review(repo: Here) -> Here:
    return repo.worktree("app-wt-review")


def rows(repo: Here) -> dict[str, dict[str, Any]]:
    return {row["id"]: row for row in repo.json("claims")["claims"]}


def move(repo: Here, old: str, new: str) -> None:
    (repo.path / new).parent.mkdir(parents=True, exist_ok=True)
    repo.git("mv", old, new)


def test_the_new_name_is_claimed_too(login: Here, review: Here) -> None:
    login.ok("new", "t", "--title", "t", *CODEX)
    login.ok("claim", "src/a.py", "-m", "why", "--thread", "t", *CODEX)
    move(login, "src/a.py", "src/c.py")
    answer = login.wc("renew", *CODEX)
    assert answer.out == "renewed: src/a.py\n"
    assert answer.err == "note: src/a.py was renamed: src/c.py is claimed, too\n"
    before, after = rows(login)["src/a.py"], rows(login)["src/c.py"]
    for name in ("holder", "thread", "note", "ttl_s", "mode", "worktree"):
        assert before[name] == after[name], name
    review.fails(20, "claim", "src/c.py", *CLAUDE)
    assert review.wc("check", "src/c.py", *CLAUDE).code == 32
    assert login.json("renew", *CODEX)["followed"] == []
    login.ok("release", "--all", *CODEX)
    assert rows(login) == {}


def test_both_claims_are_of_one_set(login: Here) -> None:
    login.ok("claim", "src/a.py", *CODEX)
    move(login, "src/a.py", "src/c.py")
    login.ok("renew", *CODEX)
    refs = login.git("for-each-ref", "--format=%(refname)", "refs/wc/claims").split()
    texts = [login.git("cat-file", "commit", ref).splitlines()[-1] for ref in refs]
    assert len({json.loads(text)["set"] for text in texts}) == 1
    assert len(texts) == 2


@pytest.mark.parametrize(
    ("claimed", "moves", "expected"),
    [
        (["src/a.py::f"], [("src/a.py", "src/c.py")], ["src/c.py::f"]),
        (["src/a.py::new"], [("src/a.py", "src/c.py")], ["src/c.py::new"]),
        (["src"], [("src", "source")], ["source"]),
        (["src"], [("src/a.py", "lib/a.py"), ("src/b.py", "lib/b.py")], FILES[:0]),
        (["src/a.py"], [("src/a.py", "a b\u00e9.py")], ["a b\u00e9.py"]),
        (["src/a.py", "src/b.py"], [("src/a.py", "x.py")], ["x.py"]),
        (["src/a.py", "new"], [("src/a.py", "new/x.py")], []),
        (["src/a.py"], [("src/a.py", "x.py"), ("x.py", "y.py")], ["y.py"]),
        (["note.txt"], [("src/a.py", "x.py")], []),
        (["src"], [("src/a.py", "x.py")], []),
    ],
)
@pytest.mark.parametrize("committed", [False, True])
def test_what_follows(
    login: Here,
    claimed: list[str],
    moves: list[tuple[str, str]],
    expected: list[str],
    committed: bool,  # noqa: FBT001
) -> None:
    option = ["--new"] if claimed == ["src/a.py::new"] else []
    login.ok("claim", *claimed, *option, *CODEX)
    for old, new in moves:
        move(login, old, new)
    if committed:
        login.git("commit", "-qm", "renamed")
    if moves[0][1] == "lib/a.py":
        # The folder was there before: the rest of it stays free.
        expected = ["lib/a.py", "lib/b.py"]
    followed = login.json("renew", *CODEX)["followed"]
    assert sorted(pair["to"] for pair in followed) == expected
    assert set(rows(login)) == {*claimed, *expected}


def test_a_write_follows_at_once_and_says_so(login: Here, review: Here) -> None:
    login.ok("claim", "src/a.py", *CODEX)
    move(login, "src/a.py", "src/c.py")
    said = login.ok("say", "t", "--title", "moved", *CODEX)
    assert "note: src/a.py was renamed: src/c.py is claimed, too" in said.err
    assert set(rows(review)) == {"src/a.py", "src/c.py"}
    again = login.ok("say", "t", "--title", "more", *CODEX)
    assert "renamed" not in again.err


def test_a_new_name_that_someone_else_has_is_reported(
    login: Here, review: Here
) -> None:
    login.ok("claim", "src/a.py", *CODEX)
    review.ok("claim", "src/c.py", *CLAUDE)
    move(login, "src/a.py", "src/c.py")
    answer = login.wc("renew", *CODEX)
    assert answer.out == "renewed: src/a.py\n"
    assert "src/a.py was renamed to src/c.py, which is not yours" in answer.err
    assert "Claude Code@review (Pat) has claimed it" in answer.err
    assert rows(login)["src/c.py"]["holder"] == "Claude Code@review (Pat)"
    # It is found again when it is free, although the rename is committed by then.
    login.git("commit", "-qm", "renamed")
    login.ok("renew", *CODEX)
    review.ok("release", "--all", *CLAUDE)
    assert [pair["to"] for pair in login.json("renew", *CODEX)["followed"]] == [
        "src/c.py"
    ]


def test_git_is_asked_only_if_a_path_is_gone(
    login: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[str, ...]] = []
    run = Git.run

    def recording(self: Git, *words: str, **how: Any) -> bytes:
        asked.append(words)
        return run(self, *words, **how)

    monkeypatch.setattr(Git, "run", recording)
    login.ok("claim", "src/a.py", *CODEX)
    login.ok("claim", "--new", "gone.py", *CODEX)
    login.ok("say", "t", "--title", "x", *CODEX)
    login.ok("renew", *CODEX)
    assert not [words for words in asked if words[0] == "diff"]
    login.ok("release", "gone.py", *CODEX)
    (login.path / "src/a.py").unlink()
    asked.clear()
    for _ in range(3):
        login.ok("say", "t", "--title", "x", *CODEX)
    assert len([words for words in asked if words[0] == "diff"]) == 1


@pytest.mark.parametrize("head", ["--output=hit", "HEAD", "f" * 40, ""])
def test_a_record_with_any_head_does_no_harm(login: Here, head: str) -> None:
    login.ok("claim", "src/a.py", *CODEX)
    ref = login.git("for-each-ref", "--format=%(refname)", "refs/wc/claims")
    message = login.git("cat-file", "commit", ref).partition("\n\n")[2]
    fields = json.loads(message.partition("\n\n")[2])
    text = message.replace(f'"head":"{fields["head"]}"', f'"head":"{head}"')
    assert text != message
    tree = login.git("hash-object", "-t", "tree", "-w", os.devnull)
    path = login.machine.root / "message"
    path.write_text(text)
    commit = login.git("commit-tree", tree, "-F", str(path))
    login.git("update-ref", ref, commit)
    move(login, "src/a.py", "src/c.py")
    assert login.json("renew", *CODEX) == {"renewed": ["src/a.py"], "followed": []}
    assert not list(login.machine.root.rglob("hit"))
