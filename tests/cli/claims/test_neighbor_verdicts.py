"""``wc check`` where others have claimed what uses a file, or what it uses."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

import pytest

from tests.cli.claims.test_check import server
from tests.contract.inprocess import Here
from wc_core.base.layout import Layout
from wc_core.edits.graph import kept
from wc_core.edits.graph.model import Graph

if TYPE_CHECKING:
    from tests.conftest import Machine

CODEX, GEMINI = ("--as", "Codex"), ("--as", "Gemini")
FILES = {
    "auth.py": "class Login:\n    def check(self): 0\n\ndef out(): 0\n",
    "app.py": "from auth import Login\nLogin().check()\n",
    "notes.txt": "auth",
}


@pytest.fixture
def repo(machine: Machine) -> Here:
    repo = Here(machine, machine.repo().path)
    for path, text in FILES.items():
        (repo.path / path).write_text(text)
    repo.git("add", ".")
    repo.git("commit", "-qm", "code")
    repo.ok("new", "auth", "--title", "T", *CODEX)
    return repo


def check(repo: Here, *words: str) -> dict[str, Any]:
    answer: dict[str, Any] = repo.wc("check", *words, "--json").json
    return answer


def codes(repo: Here, *words: str) -> list[str]:
    return [reason["code"] for reason in check(repo, *words)["reasons"]]


def configure(repo: Here, neighbor: str) -> None:
    text = f'[claims]\nneighbor = "{neighbor}"\n'
    (repo.store / "config.toml").write_text(text)


def layout_of(repo: Here) -> Layout:
    return Layout(str(repo.store))


def test_a_claim_on_what_uses_it(repo: Here) -> None:
    repo.ok("neighbors", "auth.py")
    repo.ok("claim", "app.py", *CODEX)
    answer = check(repo, "auth.py", *GEMINI)
    assert answer["verdict"] == "PROCEED"
    assert (answer["status"], answer["lock_status"]) == ("OK", "LOCKED_NEIGHBOR")
    assert answer["warnings"] == ["Codex (Pat) edits app.py, which uses auth.py."]
    assert answer["locks"]["app.py"]["lock_type"] == "NEIGHBOR"
    assert answer["orchestration"]["metadata"]["conflicts"] == []
    assert codes(repo, "auth.py", *GEMINI) == ["FREE", "NEIGHBOR_DEPENDENT"]


def test_a_claim_on_what_it_uses(repo: Here) -> None:
    repo.ok("neighbors", "auth.py")
    repo.ok("claim", "auth.py", *CODEX)
    expected = "Codex (Pat) edits auth.py, which is used by app.py."
    assert check(repo, "app.py", *GEMINI)["warnings"] == [expected]
    assert codes(repo, "app.py", *GEMINI) == ["FREE", "NEIGHBOR_DEPENDENCY"]


@pytest.mark.parametrize(
    ("symbol", "expected"),
    [("Login.check", ["FREE", "NEIGHBOR_DEPENDENCY"]), ("out", ["FREE"])],
)
def test_a_claim_on_a_symbol_concerns_those_that_mention_it(
    repo: Here, symbol: str, expected: list[str]
) -> None:
    repo.ok("neighbors", "auth.py")
    repo.ok("claim", f"auth.py::{symbol}", *CODEX)
    assert codes(repo, "app.py", *GEMINI) == expected


def test_a_symbol_is_asked_about(repo: Here) -> None:
    repo.ok("neighbors", "auth.py")
    repo.ok("claim", "app.py", *CODEX)
    answered = codes(repo, "auth.py::Login.check", *GEMINI)
    assert answered == ["FREE", "NEIGHBOR_DEPENDENT"]
    assert codes(repo, "auth.py::out", *GEMINI) == ["FREE"]


@pytest.mark.parametrize(
    ("setting", "code", "verdict", "status"),
    [
        ("advise", 0, "PROCEED", "OK"),
        ("readonly", 30, "READ_ONLY", "CONFLICT"),
        ("block", 32, "SWITCH_TASK", "CONFLICT"),
    ],
)
def test_the_setting_says_what_follows(
    repo: Here, setting: str, code: int, verdict: str, status: str
) -> None:
    configure(repo, setting)
    repo.ok("neighbors", "auth.py")
    repo.ok("claim", "app.py", *CODEX)
    done = repo.wc("check", "auth.py", "--json", *GEMINI)
    answer = (done.code, done.json["verdict"], done.json["status"])
    assert answer == (code, verdict, status)
    assert codes(repo, "auth.py", "--mode", "read", *GEMINI) == ["FREE"]
    assert "NEIGHBOR_DEPENDENT" not in codes(repo, "auth.py", *CODEX)


def test_own_claims_and_those_to_read_concern_nobody(repo: Here) -> None:
    repo.ok("neighbors", "auth.py")
    repo.ok("claim", "app.py", *GEMINI)
    assert codes(repo, "auth.py", *GEMINI) == ["FREE"]
    repo.ok("release", "--all", *GEMINI)
    repo.ok("claim", "app.py", "--mode", "read", *CODEX)
    assert codes(repo, "auth.py", *GEMINI) == ["FREE"]


def test_a_claim_on_the_target_is_not_one_on_a_neighbour(repo: Here) -> None:
    repo.ok("neighbors", "auth.py")
    repo.ok("claim", ".", *CODEX)
    assert codes(repo, "auth.py", *GEMINI) == ["DIRECT_WRITE"]


def test_a_graph_of_another_commit_is_stale(repo: Here) -> None:
    repo.ok("neighbors", "auth.py")
    repo.ok("claim", "app.py", *CODEX)
    repo.git("commit", "-qm", "more", "--allow-empty")
    answered = codes(repo, "auth.py", *GEMINI)
    assert answered == ["FREE", "GRAPH_STALE", "NEIGHBOR_DEPENDENT"]
    repo.ok("neighbors", "auth.py")
    assert "GRAPH_STALE" not in codes(repo, "auth.py", *GEMINI)


def test_what_is_not_parsed_is_not_known(repo: Here) -> None:
    repo.ok("neighbors", "auth.py")
    for target in ("notes.txt", "absent.py"):
        assert codes(repo, target, *GEMINI) == ["FREE", "GRAPH_UNAVAILABLE"]
        assert repo.ok("check", target, *GEMINI).out.splitlines() == [
            "PROCEED",
            f"FREE: No one has claimed {target}.",
        ]
    repo.ok("claim", "app.py", *CODEX)
    assert "GRAPH_UNAVAILABLE" in repo.ok("check", "notes.txt", *GEMINI).out


def test_it_is_computed_in_the_background_where_someone_has_claims(
    repo: Here,
) -> None:
    assert codes(repo, "auth.py", *GEMINI) == ["FREE", "GRAPH_UNAVAILABLE"]
    repo.ok("claim", "app.py", *CODEX)
    repo.ok("check", "auth.py", *GEMINI)
    until = time.monotonic() + 30
    while kept.load(layout_of(repo), "") is None and time.monotonic() < until:
        time.sleep(0.05)
    assert codes(repo, "auth.py", *GEMINI) == ["FREE", "NEIGHBOR_DEPENDENT"]


def test_neighbours_of_a_hub_are_summarised(repo: Here) -> None:
    users = {f"u{number}.py": {"auth.py": ("Login",)} for number in range(60)}
    graph = Graph(
        {"auth.py": {}, **users}, time.time_ns() // 10**6, repo.git("rev-parse", "HEAD")
    )
    path = layout_of(repo).graph("")
    repo.ok("neighbors", "auth.py")
    with open(path, "wb") as file:
        file.write(kept.encode(graph))
    repo.ok("claim", *(f"u{number}.py" for number in range(10)), *CODEX)
    (warning,) = check(repo, "auth.py", *GEMINI)["warnings"]
    assert warning == "Others edit 10 neighbours of auth.py: u0.py, u1.py, u2.py, …"


def test_the_server_says_the_same(repo: Here) -> None:
    session = server(repo, "Gemini")
    assert session.json("get_neighbors", target="auth.py") == {
        "target": "auth.py",
        "status": "GRAPH_UNAVAILABLE",
        "at": None,
    }
    repo.ok("neighbors", "auth.py")
    repo.ok("claim", "app.py", *CODEX)
    own = json.loads(repo.wc("check", "auth.py", "--json", *GEMINI).out)
    assert session.json("check_status", symbols=["auth.py"]) == own
    answer = session.json("get_neighbors", target="auth.py::Login")
    assert answer["status"] == "OK"
    assert answer["used_by"] == {"total": 1, "files": {"app.py": ["Login", "check"]}}
    text = session.text("get_neighbors", target="app.py")
    assert "- uses 1 file\n  - auth.py · Login, check" in text
    assert "not known" in session.text("get_neighbors", target="notes.txt")
    repo.git("commit", "-qm", "more", "--allow-empty")
    assert session.json("get_neighbors", target="app.py")["status"] == "GRAPH_STALE"
