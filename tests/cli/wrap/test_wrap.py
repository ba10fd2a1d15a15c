"""``wc wrap``, by hand: what is left, and passing it on."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.contract.inprocess import Here

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Machine

CODEX, GEMINI = ("--as", "Codex"), ("--as", "Gemini")


@pytest.fixture
def repo(machine: Machine) -> Here:
    return Here(machine, machine.repo().path)


def left(repo: Here, *words: str) -> dict[str, Any]:
    done = repo.wc("wrap", "--json", *words)
    assert done.code in {0, 9}, done
    fields: dict[str, Any] = json.loads(done.out)
    return fields


def test_nothing_is_left_of_someone_who_did_nothing(repo: Here) -> None:
    assert repo.ok("wrap", *CODEX).out == "Nothing is left behind.\n"
    repo.ok("new", "api", "--title", "The api", "--to", "anyone", *CODEX)
    assert repo.ok("wrap", *CODEX).out == "Nothing is left behind.\n"


def test_everything_that_is_left_is_shown(repo: Here, tmp_path: Path) -> None:
    repo.ok("new", "api", "--title", "The api", *CODEX)
    repo.ok("new", "ui", "--title", "The ui", "--blocked-by", "api", *CODEX)
    repo.ok("new", "db", "--title", "The db", *GEMINI)
    repo.ok("ask", "db", "--to", "Codex", "--title", "Which?", *GEMINI)
    repo.ok("claim", "a.py", *CODEX)
    (repo.path / "a.py").write_text("x = 1\n")
    repo.git("init", "-q", "--bare", str(tmp_path / "hub.git"))
    repo.git("remote", "add", "origin", str(tmp_path / "hub.git"))
    done = repo.wc("wrap", *CODEX)
    assert done.code == 9
    branch = repo.git("symbolic-ref", "--short", "HEAD").strip()
    assert done.out == (
        "You hold 2 balls:\n"
        "  ui · waits for api · The ui\n"
        "  api · OPEN · The api\n"
        "You have claimed 1 thing:\n  a.py\n"
        "Questions to you:\n  db · Gemini CLI (Pat): Which?\n"
        f"Not committed on {branch}:\n  a.py\n"
        f"1 commit on {branch} not pushed\n"
    )
    assert "Left behind: 2 balls, 1 claim, 1 question to you, 1 uncommitted" in done.err
    assert "wc wrap --handoff NAME" in done.err
    fields = left(repo, *CODEX)
    assert [row["topic"] for row in fields["balls"]] == ["ui", "api"]
    assert (fields["claims"], fields["uncommitted"]) == (["a.py"], ["a.py"])
    assert fields["unpushed"] == 1


def test_worktrees_of_clients_are_no_uncommitted_work(repo: Here) -> None:
    """They make them in the repository, and git does not ignore them."""
    for client in ("claude", "gemini", "qwen"):
        path = f".{client}/worktrees/feat-{client}"
        repo.git("worktree", "add", "-q", path, "-b", client)
    assert repo.ok("wrap", *CODEX).out == "Nothing is left behind.\n"
    assert "left out" not in repo.ok("radar").out
    (repo.path / ".claude/settings.json").write_text("{}\n")
    assert left(repo, *CODEX)["uncommitted"] == [".claude/"]


def test_all_of_it_is_passed_on_in_one_go(repo: Here) -> None:
    repo.ok("new", "api", "--title", "The api", *CODEX)
    repo.ok("new", "ui", "--title", "The ui", "--blocked-by", "api", *CODEX)
    repo.ok("claim", "a.py", *CODEX)
    (repo.path / "a.py").write_text("x = 1\n")
    repo.ok("ack", "api", *GEMINI)
    note = ("--note", "Start with the ui.")
    done = repo.ok("wrap", "--handoff", "Gemini", *note, *CODEX)
    assert done.out.splitlines()[-1] == "released 1 claim: a.py"
    balls = {row["topic"]: row["ball"] for row in repo.json("list")["threads"]}
    assert balls == {"api": "Gemini CLI", "ui": "Gemini CLI"}
    entry = repo.json("read", "ui")["entries"][-1]
    assert entry["body"].startswith("Start with the ui.\n\nLeft behind:\n\n- not commi")
    assert "- claims that were released: `a.py`" in entry["body"]
    assert repo.json("claims")["claims"] == []
    fields = left(repo, *CODEX)
    assert (fields["balls"], fields["claims"]) == ([], [])


def test_nothing_is_passed_on_if_one_thread_refuses(repo: Here) -> None:
    repo.ok("new", "api", "--title", "The api", *CODEX)
    repo.ok("ack", "api", *GEMINI)
    repo.ok("new", "ui", "--title", "The ui", *CODEX)
    repo.ok("ask", "ui", "--to", "Pat", "--title", "Why?", *CODEX)
    said = repo.fails(4, "wrap", "--handoff", "Gemini", *CODEX)
    assert "ui: " in said
    assert "Nothing was passed on." in said
    assert len(left(repo, *CODEX)["balls"]) == 2


@pytest.mark.parametrize(
    ("words", "code", "text"),
    [
        (("--note", "x"), 2, "A note needs a handoff"),
        (("--handoff", "Gemini"), 2, "to pass on"),
        (("--handoff", " "), 2, "name"),
    ],
)
def test_what_is_refused(
    repo: Here, words: tuple[str, ...], code: int, text: str
) -> None:
    assert text in repo.fails(code, "wrap", *words, *CODEX)


def test_an_unknown_name_is_refused_before_anything_moves(repo: Here) -> None:
    repo.ok("new", "api", "--title", "The api", *CODEX)
    assert "Nothing was passed on" in repo.fails(
        3, "wrap", "--handoff", "Zorro", *CODEX
    )
    repo.ok("wrap", "--handoff", "Zorro", "--force", *CODEX)
    assert repo.json("read", "api")["ball"] == "Zorro"
