"""``wc digest``: what happened, by thread."""

from __future__ import annotations

import copy
import shutil
from typing import TYPE_CHECKING

import pytest

from tests.conftest import Machine, Repo

if TYPE_CHECKING:
    from pathlib import Path

CODEX = ["--as", "Codex"]


def say(repo: Repo, topic: str, title: str, *words: str) -> str:
    """The id of a new entry."""
    entry_id: str = repo.json("say", topic, "--title", title, *words)["entry_id"]
    return entry_id


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> tuple[Repo, str]:
    """A repository that nobody changes, and the entry before the news."""
    repo = Machine(tmp_path_factory.mktemp("told")).repo()
    repo.ok("new", "quiet", "--title", "Nothing happens")
    repo.ok("new", "login", "--title", "Log in", "--to", "Codex")
    since = say(repo, "login", "Before", "--to", "Codex")
    for number in range(1, 4):
        say(
            repo, "login", f"Step {number}", "--body", f"It does step {number}.", *CODEX
        )
    decided = [
        "--kind",
        "decision",
        "--body",
        "# Why\n\nPasswords **leak**, too often.",
    ]
    say(repo, "login", "Passkeys only", *decided, *CODEX)
    amended = ["--body", "The old text is here."]
    say(repo, "login", "Work", "--status", "IN_REVIEW", *amended, *CODEX, "--to", "Pat")
    repo.ok("amend", "login", "--body", "It works now, in all browsers.", *CODEX)
    repo.ok("tag", "login", "+auth")
    repo.ok("new", "signup", "--title", "Sign up", "--body", "With a passkey as well.")
    return repo, since


def test_what_happened_by_thread(told: tuple[Repo, str]) -> None:
    repo, since = told
    done = repo.ok("digest", "--since", since)
    assert done.out == (
        "signup Sign up\n"
        "    new · OPEN · ball: Pat · 1 entry by Pat\n"
        "    #0 Pat: With a passkey as well.\n"
        "\n"
        "login Log in\n"
        "    OPEN → IN_REVIEW · ball: Codex → Pat · 6 entries by Codex (Pat), Pat\n"
        "    decided: Passkeys only\n"
        "    #3 Codex (Pat): Step 2: It does step 2.\n"
        "    #4 Codex (Pat): Step 3: It does step 3.\n"
        "    #5 Codex (Pat): Passwords leak, too often.\n"
        "    #6 Codex (Pat): Work: It works now, in all browsers.\n"
        "    and 1 before: wc read login --from 2 --summary-only\n"
    )
    assert done.err == ""
    assert repo.ok("updates", "--digest", "--since", since).out == done.out


def test_the_same_as_json(told: tuple[Repo, str]) -> None:
    repo, since = told
    new, old = repo.json("digest", "--since", since)["threads"]
    assert (new["topic"], new["begun"], new["before"]) == ("signup", True, None)
    assert old["before"] == {"status": "OPEN", "ball": "Codex"}
    assert (old["status"], old["ball"], old["begun"]) == ("IN_REVIEW", "Pat", False)
    assert [decision["title"] for decision in old["decisions"]] == ["Passkeys only"]
    last = old["summaries"][-1]
    assert (last["idx"], last["summary_by"]) == (6, "lead")
    assert last["summary"] == "It works now, in all browsers."
    assert "body" not in last
    assert old["entries"] == 6


def test_as_many_as_are_wanted(told: tuple[Repo, str]) -> None:
    repo, since = told
    done = repo.ok("digest", "--since", since, "--limit", "1")
    assert done.out.startswith("signup ")
    assert done.err == f"1 more: wc digest --since {since} --limit 0\n"
    nothing = repo.ok("digest", "--since", "2999-01-01")
    assert (nothing.out, nothing.err) == ("", "Nothing since 2999-01-01.\n")
    assert "neither a time" in repo.fails(2, "digest", "--since", "yesterday-ish")


@pytest.mark.parametrize("more", ["", "link", "unreadable"])
def test_few_threads_are_the_first_of_all(
    told: tuple[Repo, str], tmp_path: Path, more: str
) -> None:
    repo = Repo(told[0].machine, told[0].path)
    if more:
        shutil.copytree(told[0].store, tmp_path / "store", symlinks=True)
        repo.machine = copy.copy(repo.machine)
        repo.machine.env = repo.machine.env | {"WATERCOOLER_DIR": f"{tmp_path}/store"}
    if more == "link":
        repo.ok("link", "login", "waits-for", "signup")
    elif more == "unreadable":
        (tmp_path / "store/graph/baseline/threads/broken/entries.jsonl").mkdir(
            parents=True
        )
    everything = repo.json("digest", "--since", "99d", "--limit", "0")
    for limit in range(1, 5):
        few = repo.json("digest", "--since", "99d", "--limit", str(limit))
        assert few["threads"] == everything["threads"][:limit]
        assert few.get("more", 0) == len(everything["threads"][limit:])
        assert few.get("unreadable") == everything.get("unreadable")
    assert len(everything["threads"]) == 3


def test_a_thread_of_another_tool_says_no_more_than_it_knows(repo: Repo) -> None:
    repo.ok("new", "login", "--title", "Log in")
    log = repo.log("login")
    foreign = log.parent.parent / "theirs"
    foreign.mkdir()
    line = (
        b'{"entry_id": "01M80FZ83K0PKHTM00QRHZNW%s", "agent": "Codex", '
        b'"timestamp": "2026-11-01T00:00:00Z", "title": "T", "body": "It is so."}\n'
    )
    (foreign / "entries.jsonl").write_bytes(line % b"7K" + line % b"7M")
    since = "01M80FZ83K0PKHTM00QRHZNW7K"
    threads = repo.json("digest", "--since", since)["threads"]
    (theirs,) = [news for news in threads if news["topic"] == "theirs"]
    assert (theirs["before"], theirs["begun"], theirs["entries"]) == (None, False, 1)


def test_no_more_tokens_than_asked_for(told: tuple[Repo, str]) -> None:
    repo, since = told
    words = ("digest", "--since", since, "--max-tokens")
    done = repo.ok(*words, "90")
    assert len(done.out) + len(done.err) <= 90 * 4
    # Both count as much: the newer thread, and the older one with its decision.
    assert done.out.startswith("signup ")
    command = f"wc digest --since {since}"
    assert done.err == f"1 thread left out (login): {command}\n"
    (part,) = repo.json(*words, "420")["left_out"]
    assert part == {"threads": 1, "topics": ["login"], "show": f"{command} --json"}
    assert "left_out" not in repo.json(*words, "4000")
    assert " or more" in repo.fails(2, *words, "9")
