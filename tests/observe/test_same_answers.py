"""The command, from the files, and the server, from its memory, say the same."""

from __future__ import annotations

from typing import Any

import pytest

from tests.conftest import Machine, Repo
from tests.observe.stores import Session

ASKED: dict[str, tuple[list[str], str, dict[str, Any]]] = {
    "a word": (["search", "login"], "search_threads", {"query": "login"}),
    "a phrase": (
        ["search", '"the cookie"', "--limit", "1"],
        "search_threads",
        {"query": '"the cookie"', "limit": 1},
    ),
    "a field, accents, other scripts": (
        ["search", "title:cafe", "認証"],
        "search_threads",
        {"query": "title:cafe 認証"},
    ),
    "a file": (
        ["search", "--file", "src/auth.py", "--ball", "Codex"],
        "search_threads",
        {"file": "src/auth.py", "ball": "Codex"},
    ),
    "a branch and a status": (
        ["search", "--branch", "main", "--status", "OPEN"],
        "search_threads",
        {"branch": "main", "status": "OPEN"},
    ),
    "some of the words": (
        ["search", "cookie absent", "--limit", "1"],
        "search_threads",
        {"query": "cookie absent", "limit": 1},
    ),
    "any word, newest first": (
        ["search", "cookie", "login", "--any", "--sort", "newest"],
        "search_threads",
        {"query": "cookie login", "words": "any", "sort": "newest"},
    ),
    "words side by side": (
        ["search", "the", "cookie", "--phrase"],
        "search_threads",
        {"query": "the cookie", "words": "phrase"},
    ),
    "an author, a time and a tag": (
        [
            "search",
            "--author",
            "codex",
            "--since",
            "2026-01-01",
            "--until",
            "2099-01-01",
        ],
        "search_threads",
        {"author": "codex", "since": "2026-01-01", "until": "2099-01-01"},
    ),
    "a tag": (
        ["search", "cookie", "--tag", "none"],
        "search_threads",
        {"query": "cookie", "tag": "none"},
    ),
    "nothing": (["search", "zzz"], "search_threads", {"query": "zzz"}),
    "updates": (
        ["updates", "--since", "2026-01-01", "--limit", "3"],
        "list_updates",
        {"since": "2026-01-01", "limit": 3},
    ),
    "threads": (["list", "--open"], "list_threads", {"open_only": True}),
    "threads about a file": (
        ["list", "--file", "auth.py"],
        "list_threads",
        {"file": "auth.py"},
    ),
    "threads at a branch": (
        ["list", "--branch", "fix/menu"],
        "list_threads",
        {"code_branch": "fix/menu"},
    ),
    "entries of a branch": (
        ["updates", "--since", "2026-01-01", "--branch", "fix/menu"],
        "list_updates",
        {"since": "2026-01-01", "code_branch": " fix/menu"},
    ),
    "a thread's entries of a branch": (
        ["read", "menu", "--branch", "fix/menu"],
        "read_thread",
        {"topic": "menu", "code_branch": "fix/menu"},
    ),
    "one of a thread's entries of a branch": (
        ["read", "menu", "--branch", "fix/menu", "--limit", "1", "--peek"],
        "read_thread",
        {"topic": "menu", "code_branch": "fix/menu", "limit": 1},
    ),
    "part of a thread": (
        ["read", "long", "--limit", "11"],
        "read_thread",
        {"topic": "long", "limit": 11},
    ),
    "part of the updates": (
        ["updates", "--since", "2026-01-01", "--limit", "14"],
        "list_updates",
        {"since": "2026-01-01", "limit": 14},
    ),
    "part of the hits": (
        ["search", "all", "--limit", "14"],
        "search_threads",
        {"query": "all", "limit": 14},
    ),
    "its summaries": (
        ["read", "long", "--summary-only"],
        "read_thread",
        {"topic": "long", "summary_only": True},
    ),
}


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> tuple[Repo, Session]:
    repo = Machine(tmp_path_factory.mktemp("both")).repo()
    for topic, title, body in (
        ("login", "Login fails", "The cookie is gone, see src/auth.py:12."),
        ("menu", "Café 認証", "The cookie of the login, #7."),
        ("done", "Old", "login"),
    ):
        repo.ok("new", topic, "--title", title, "--body", body, "--to", "Codex")
    repo.ok("ack", "login", "--title", "Second", "--as", "Codex")
    repo.ok("new", "long", "--title", "A long one", "--to", "Codex")
    repo.ok("set-status", "done", "CLOSED")
    fix = repo.worktree("fix", "fix/menu")
    fix.ok("ack", "menu", "--title", "Third", "--as", "Codex")
    fix.ok("new", "fourth", "--title", "Fourth")
    fix.ok("ack", "menu", "--title", "Fifth", "--as", "Sam")
    for number in range(16):
        body = f"{number}. {'All of it. ' * 200}"
        repo.ok("ack", "long", "--title", f"Step {number}", "--body", body)
    env = {**repo.machine.env, "WATERCOOLER_AGENT": "Codex"}
    return repo, Session(repo.path, env)


@pytest.mark.parametrize("asked", ASKED)
def test_the_same_question_has_the_same_answer(
    both: tuple[Repo, Session], asked: str
) -> None:
    repo, session = both
    words, tool, arguments = ASKED[asked]
    said = repo.json(*words, "--as", "Codex")
    told = session.json(tool, **arguments)
    # The server adds what its clients ask for next, and leaves nothing out.
    added = {key: told.pop(key) for key in told.keys() - said.keys()}
    assert added.keys() <= {"since", "total", "entry_count"}
    for one in (*told.get("entries", ()), *told.get("threads", ())):
        (one.get("last") or one).pop("snippet", None)
    assert told | {"store": ""} == said | {"store": ""}
