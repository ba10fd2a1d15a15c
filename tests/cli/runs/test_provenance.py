"""Which balls start an agent: those passed here, whatever names are in them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.cli.runs.running import ask_for, events, names, plan
from tests.cli.runs.test_running import repo  # noqa: F401 - a fixture

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Repo


def colleague_of(repo: Repo, root: Path) -> Repo:  # noqa: F811
    """Somebody who may push the branch of the threads, and calls themselves Pat."""
    hub = root / "hub.git"
    repo.machine.git("init", "-q", "--bare", str(hub), cwd=root)
    repo.git("remote", "add", "origin", str(hub))
    repo.git("push", "-q", "origin", "HEAD")
    repo.ok("new", "first", "-m", "First")
    repo.ok("sync")
    repo.git("clone", "-q", str(hub), str(root / "other"))
    colleague = type(repo)(repo.machine, root / "other")
    colleague.ok("sync")
    return colleague


def reasons(repo: Repo) -> dict[str, Any]:  # noqa: F811
    return {row["topic"]: row["reason"] for row in plan(repo)["waiting"]}


def test_a_pushed_ball_starts_nothing_until_it_is_passed_here(
    repo: Repo,  # noqa: F811
    tmp_path: Path,
) -> None:
    colleague = colleague_of(repo, tmp_path)
    colleague.ok("new", "login", "-m", "work done", "--to", "Codex")
    colleague.ok("sync")
    repo.ok("sync")
    assert reasons(repo)["login"].startswith("its ball is not recorded as passed here")
    assert events(repo) == []
    # The command that it names makes the ball this person's.
    command = reasons(repo)["login"].partition("started: wc ")[2]
    words = [word.strip("'") for word in command.split()]
    repo.ok(*words[:-1], "mine now")
    assert names(events(repo))[0] == ("started", "login")


@pytest.mark.parametrize("allowed", ["Pat", "known", "anyone"])
def test_a_preference_of_this_machine_names_who_else_may(
    repo: Repo,  # noqa: F811
    tmp_path: Path,
    allowed: str,
) -> None:
    colleague = colleague_of(repo, tmp_path)
    colleague.ok("new", "login", "-m", "work done", "--to", "Codex")
    colleague.ok("sync")
    repo.ok("sync")
    assert events(repo) == []
    repo.ok("config", "--global", "set", "run.from", allowed)
    assert names(events(repo))[0] == ("started", "login")


@pytest.mark.parametrize("allowed", ["own", "Pat", "known", "anyone"])
def test_a_ball_that_came_with_a_carrier_starts_nothing(
    repo: Repo,  # noqa: F811
    allowed: str,
) -> None:
    ask_for(repo, "login", "work done")
    (repo.private / "written/login").unlink()
    entry = repo.json("read", "login")["entries"][0]["id"]
    row = json.dumps({"entry": entry, "via": "codex/login"})
    (repo.store / "harvested.jsonl").write_text(f"{row}\n")
    repo.ok("config", "--global", "set", "run.from", allowed)
    assert events(repo) == []
    assert reasons(repo)["login"].startswith("its ball came with the branch codex/")


def test_a_pushed_unblocking_starts_nothing(
    repo: Repo,  # noqa: F811
    tmp_path: Path,
) -> None:
    ask_for(repo, "blocked", "work done")
    repo.ok("set-status", "blocked", "BLOCKED")
    colleague = colleague_of(repo, tmp_path)
    colleague.ok("set-status", "blocked", "OPEN")
    colleague.ok("sync")
    repo.ok("sync")
    assert events(repo) == []
    assert "blocked" in reasons(repo)


def test_an_alias_that_came_with_a_push_makes_nobody_an_agent(
    repo: Repo,  # noqa: F811
) -> None:
    repo.ok("new", "login", "-m", "work done", "--to", "Kim", "--force")
    repo.ok("config", "set", "aliases.kim", "Codex")
    assert events(repo) == []
    waiting = repo.wc("run", "--once", "login").err
    assert "its ball is Kim's, who is not an agent" in waiting


def test_a_forged_state_is_not_believed(repo: Repo) -> None:  # noqa: F811
    """A push can contain any meta.json, also one that says a newer wc wrote it."""
    repo.ok("new", "login", "-m", "work done")
    meta = repo.log("login").with_name("meta.json")
    text = meta.read_text()
    assert '"ball":"Pat"' in text.replace(" ", "")
    meta.write_text(text.replace('"Pat"', '"Codex"'))
    assert events(repo) == []


def test_no_worktree_is_made_from_what_only_a_remote_has(
    repo: Repo,  # noqa: F811
    tmp_path: Path,
) -> None:
    colleague = colleague_of(repo, tmp_path)
    colleague.git("switch", "-q", "-c", "login")
    (colleague.path / "CLAUDE.md").write_text("from a stranger")
    colleague.git("add", "-A")
    colleague.git("commit", "-qm", "Files")
    colleague.git("push", "-q", "origin", "login")
    repo.git("fetch", "-q")
    ask_for(repo, "login", "work done")
    assert reasons(repo)["login"] == (
        "its files would come from origin/login, which is not a branch of yours; look "
        "at it, then name it: --from origin/login"
    )
    assert events(repo) == []
    started = events(repo, "login", "--from", "origin/login")
    assert names(started)[0] == ("started", "login")
    titles = [entry["title"] for entry in repo.json("read", "login")["entries"]]
    assert "Started by wc run on login, begun from origin/login" in titles


def _append(repo: Repo, topic: str, **fields: object) -> None:  # noqa: F811
    """Add an entry to a thread, as a push can contain it."""
    log = repo.log(topic)
    last = json.loads(log.read_bytes().splitlines()[-1])
    entry_id = f"{last['entry_id'][:18]}{len(log.read_bytes()):08d}"
    line = {
        **{key: last[key] for key in ("type", "thread_topic", "timestamp")},
        "id": f"entry:{entry_id}",
        "entry_id": entry_id,
        "agent": "Codex (Pat)",
        "entry_type": "Note",
        "title": "From elsewhere",
        "body": "",
        "parents": [last["entry_id"]],
        **fields,
    }
    log.write_bytes(log.read_bytes() + json.dumps(line).encode() + b"\n")


def test_a_pushed_move_does_not_choose_the_files(repo: Repo) -> None:  # noqa: F811
    repo.git("branch", "elsewhere")
    ask_for(repo, "login", "work done")
    _append(repo, "login", action="move", thread_branch="elsewhere")
    assert reasons(repo)["login"] == (
        "it is not recorded as said here that it belongs to elsewhere. To have it "
        "started there: wc run login --from elsewhere"
    )
    (start,) = plan(repo, "login", "--from", "elsewhere")["start"]
    assert start["branch"] == "elsewhere"


@pytest.mark.parametrize(
    "name", ["x;touch ran", "x/../../../out", "A sentence. And another.", "x" * 200]
)
def test_a_pushed_name_is_none_of_ours(repo: Repo, name: str) -> None:  # noqa: F811
    """Names are part of commands in prompts, and of paths of worktrees."""
    ask_for(repo, "login", "work done")
    _append(repo, "login", action="rename", new_topic=name)
    assert repo.json("read", "login")["topic"] == "login"
    (start,) = plan(repo)["start"]
    assert start["worktree"].endswith("app-wt-login")
    assert name not in start["command"][-1]


def test_a_pushed_gate_opens_nothing(repo: Repo) -> None:  # noqa: F811
    ask_for(repo, "login", "work done")
    change = {"change": "add", "kind": "until", "value": "3000-01-01T00:00:00.000Z"}
    _append(repo, "login", action="gate", gates=[change])
    repo.ok("doctor", "--repair")
    gate = repo.json("read", "login")["entries"][-1]["id"]
    _append(repo, "login", action="gate", gates=[{"change": "pass", "id": f"{gate}.1"}])
    assert events(repo) == []
    _append(
        repo, "login", action="gate", gates=[{"change": "remove", "id": f"{gate}.1"}]
    )
    assert events(repo) == []
    assert reasons(repo)["login"].startswith("its ball is not recorded as passed here")


def test_the_plan_says_where_the_files_come_from(repo: Repo) -> None:  # noqa: F811
    ask_for(repo, "login", "work done")
    assert plan(repo)["start"][0]["from"] == "main"
    assert "(new, branch login, begun from main)" in repo.ok("run", "--dry-run").out
