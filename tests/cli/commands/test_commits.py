"""`wc read --commits`: who changed what, and the commits that have it."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest

from tests.conftest import THREADS, Machine, Repo
from tests.core.strategies import chain, entry, write_thread

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any

TRACKING = f"refs/remotes/origin/{THREADS}"
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{3})?Z")


def rows(repo: Repo, topic: str = "auth", *words: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = repo.json("read", topic, "--commits", *words)[
        "entries"
    ]
    return found


def commits(repo: Repo, topic: str = "auth") -> list[str | None]:
    """The commits of the entries, the first entry's first."""
    return [one["commit"] for one in rows(repo, topic)]


def head(repo: Repo, which: str = THREADS) -> str:
    return repo.git("rev-parse", which)


def tell(repo: Repo) -> list[str]:
    """Four entries, the last not committed; the commits of the others."""
    found = []
    repo.settled("new", "auth", "--title", "Begin", "--as", "Codex", "--to", "anyone")
    found.append(head(repo))
    env = {"WATERCOOLER_GIT_AUTHOR": "Bot"}
    repo.settled("set-status", "auth", "IN_REVIEW", env=env)
    found.append(head(repo))
    repo.settled("say", "auth", "--title", "Look", "--to", "Codex", "--as", "Cursor")
    found.append(head(repo))
    repo.ok("ack", "auth", "--title", "Seen")
    return found


def test_who_changed_what_and_where_it_is(repo: Repo) -> None:
    first, second, third = tell(repo)
    repo.git("update-ref", TRACKING, second)
    done = repo.ok("read", "auth", "--commits")
    assert _TIME.sub("TIME", done.out) == (
        "auth: Begin\n"
        f"{first[:7]} TIME #0 Codex (Pat) new: Begin · ball → anyone · OPEN\n"
        f"{second[:7]} TIME #1 Pat set-status: Status: IN_REVIEW · IN_REVIEW · by Bot\n"
        f"{third[:7]} TIME #2 Cursor (Pat) say: Look · ball → Codex · not pushed\n"
        "-       TIME #3 Pat ack: Seen · not committed\n"
    )
    assert done.err == ""


def test_json_has_the_commit_of_each_entry(repo: Repo) -> None:
    first, second, third = tell(repo)
    repo.git("update-ref", TRACKING, second)
    entries = rows(repo)
    assert [one["idx"] for one in entries] == [0, 1, 2, 3]
    assert [one["commit"] for one in entries] == [first, second, third, None]
    assert [one["committed"] for one in entries] == [True, True, True, False]
    assert [one["pushed"] for one in entries] == [True, True, False, None]
    assert [one["committed_by"] for one in entries] == ["Pat", "Bot", "Pat", None]
    plain = repo.json("read", "auth", "--peek")["entries"]
    commit_keys = {"commit", "committed", "committed_by", "pushed"}
    assert [{**one, **dict.fromkeys(commit_keys)} for one in plain] == [
        {**one, **dict.fromkeys(commit_keys)} for one in entries
    ]


def test_it_marks_nothing_as_read(repo: Repo) -> None:
    repo.ok("new", "auth", "--title", "a")
    repo.ok("read", "auth", "--commits", "--as", "Codex")
    assert repo.json("list", "--as", "Codex")["threads"][0]["new_for_you"] == 1


@pytest.mark.parametrize(
    "ref",
    [TRACKING, f"refs/remotes/a/b/{THREADS}", "refs/watercooler/0123456789abcdef"],
)
def test_what_a_remote_is_known_to_have_is_pushed(repo: Repo, ref: str) -> None:
    repo.settled("new", "auth", "--title", "x")
    assert [one["pushed"] for one in rows(repo)] == [None]
    repo.git("update-ref", ref, f"{THREADS}~1")
    assert [one["pushed"] for one in rows(repo)] == [False]
    repo.git("update-ref", ref, THREADS)
    assert [one["pushed"] for one in rows(repo)] == [True]


def test_a_burst_is_one_commit_of_many_entries(repo: Repo) -> None:
    for topic in ("auth", "billing", "auth"):
        repo.ok("say", topic, "--title", "x")
    repo.settled("ack", "billing")
    assert [*commits(repo), *commits(repo, "billing")] == [head(repo)] * 4


def test_a_thread_that_is_not_there(repo: Repo) -> None:
    repo.settled("new", "auth", "--title", "x")
    assert "auth" in repo.fails(3, "read", "auht", "--commits")


def test_what_others_wrote_moves_no_terminal(repo: Repo) -> None:
    hostile = "a\x1b[2Jb\nc\u202ed"
    drafts = entry(0, agent=hostile, title=hostile, action=hostile, status=hostile)
    repo.ok("init")
    write_thread(repo.store, "auth", chain(drafts))
    (repo.store / ".local/unsettled/auth").touch()
    env = {"WATERCOOLER_GIT_AUTHOR": "B\x1b[2Jot"}
    repo.settled("new", "other", "--title", "x", env=env)
    done = repo.ok("read", "auth", "--commits")
    assert done.out.count("\n") == 2
    assert "\x1b" not in done.out
    assert "\u202e" not in done.out
    assert "ab cd: ab cd · ab cd · by Bot" in done.out


# --- commits without footers --------------------------------------------------


def test_commits_of_older_tools_are_known_by_their_lines(repo: Repo) -> None:
    repo.ok("init")
    store, entries = repo.store, chain(*(entry(step) for step in range(4)))
    found = []
    for count in (1, 2, 4):
        write_thread(store, "auth", entries[:count])
        for words in (["add", "."], ["commit", "-q", "-m", f"{count} entries"]):
            repo.machine.git(*words, cwd=store)
        found.append(head(repo))
    # All of it rewritten, as a tool does that adds its own keys to each line.
    log = repo.log("auth")
    log.write_text(log.read_text().replace('"title 0"', '"title zero"'))
    repo.machine.git("commit", "-q", "-a", "-m", "Annotations", cwd=store)
    (store / ".local/unsettled/auth").touch()
    repo.settled("ack", "auth")
    first, second, third = found
    assert commits(repo) == [first, second, third, third, head(repo)]


def test_a_merge_hides_no_commit(machine: Machine) -> None:
    repo = machine.repo()
    repo.settled("new", "auth", "--title", "start", "--to", "anyone")
    alex = Machine(machine.root / "elsewhere", "Alex")
    alex.git("clone", "-q", str(repo.path), "app", cwd=alex.root)
    other = Repo(alex, alex.root / "app")
    other.ok("init")
    for place in (repo, other):
        alone = '[sync]\npush = "off"\nfetch_every = 0\n'
        (place.store / "config.toml").write_text(alone)
        place.settled("say", "auth", "--title", "beside")
    alex.git("fetch", "-q", "origin", THREADS, cwd=other.store)
    alex.git("merge", "-q", "--no-edit", "FETCH_HEAD", cwd=other.store)
    assert other.git("rev-list", "--count", "--merges", THREADS) == "1"
    for row in rows(other):
        footer = f"--grep=^Watercooler-Entry-ID: {row['id']}$"
        assert other.git("log", "--format=%H", footer, THREADS) == row["commit"]
    assert len(set(commits(other))) == 3


def test_a_store_that_is_committed_with_the_code(repo: Repo) -> None:
    (repo.path / ".watercooler/threads").mkdir(parents=True)
    repo.ok("new", "auth", "--title", "x")
    assert [one["committed"] for one in rows(repo)] == [False]
    repo.git("add", ".watercooler/graph", ".watercooler/threads")
    repo.git("commit", "-q", "-m", "Threads")
    repo.ok("ack", "auth")
    assert commits(repo) == [head(repo, "main"), None]
    repo.git("update-ref", "refs/remotes/origin/main", "main")
    assert [one["pushed"] for one in rows(repo)] == [True, None]


def test_a_repository_without_a_commit(machine: Machine) -> None:
    repo = machine.repo(commit=False)
    (repo.path / ".watercooler/threads").mkdir(parents=True)
    repo.ok("new", "auth", "--title", "x")
    assert [one["committed"] for one in rows(repo)] == [False]


# --- where nothing can be known -----------------------------------------------


def test_outside_git_there_is_no_history(machine: Machine) -> None:
    place = machine.folder("notes")
    place.ok("new", "auth", "--title", "x")
    done = place.ok("read", "auth", "--commits")
    assert done.out.endswith("#0 Pat new: x · ball → Pat · OPEN\n")
    assert "not committed" not in done.out
    assert done.err == "note: the commits are unknown: this store is not in git\n"
    shape = place.json("read", "auth", "--commits")
    (row,) = shape["entries"]
    assert shape["problem"] == "this store is not in git"
    known = [row[one] for one in ("committed", "commit", "committed_by", "pushed")]
    assert known == [None] * 4


def test_without_git_the_entries_are_listed(repo: Repo, tmp_path: Path) -> None:
    repo.settled("new", "auth", "--title", "x")
    done = repo.ok("read", "auth", "--commits", env={"PATH": str(tmp_path / "nothing")})
    assert "new: x" in done.out
    assert done.err == "note: the commits are unknown: git is not installed\n"


def test_a_page_alone_names_no_commits(repo: Repo) -> None:
    repo.ok("init")
    text = (
        "# old — Thread\nStatus: OPEN\n\n---\nEntry: Pat 2026-01-01T12:00:00Z\n\nHi\n"
    )
    (repo.store / "threads").mkdir(exist_ok=True)
    (repo.store / "threads/old.md").write_text(text)
    assert [one["committed"] for one in rows(repo, "old")] == [None]


def test_a_long_history_takes_as_many_calls_as_a_short_one(repo: Repo) -> None:
    calls = repo.machine.root / "calls"
    git = repo.machine.run(["sh", "-c", "command -v git"], repo.path).out.strip()
    (repo.machine.root / "bin").mkdir()
    wrapper = repo.machine.root / "bin/git"
    wrapper.write_text(f'#!/bin/sh\necho >>{calls}\nexec {git} "$@"\n')
    wrapper.chmod(0o755)
    path = f"{wrapper.parent}:{repo.machine.env['PATH']}"
    counts = []
    for turns in (1, 12):
        for _ in range(turns):
            repo.settled("say", "auth", "--title", "x")
        repo.git("update-ref", TRACKING, f"{THREADS}~1")
        calls.write_text("")
        found = json.loads(
            repo.ok("read", "auth", "--commits", "--json", env={"PATH": path}).out
        )
        assert len({one["commit"] for one in found["entries"]}) in {1, 13}
        counts.append(len(calls.read_text()))
    assert counts[0] == counts[1] <= 4
