"""Notes of two clones with one remote."""

from __future__ import annotations

import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.cli.claims.test_claims_between_clones import Clones
from wc_core.base.layout import Layout
from wc_core.edits.activitylog import record

if TYPE_CHECKING:
    from tests.contract.inprocess import Here

CODEX, GEMINI = ("--as", "Codex"), ("--as", "Gemini")
REF = "refs/wc/activity"


@pytest.fixture
def clones(tmp_path: Path) -> Clones:
    return Clones(tmp_path)


def notes(repo: Here, *words: str) -> dict[str, dict[str, Any]]:
    return {row["note"]: row for row in repo.json("activity", *words)["activity"]}


def at_the_remote(clones: Clones) -> list[str]:
    """The texts in the log at the remote."""
    text = clones.pat.machine.git("show", f"{REF}:activity.jsonl", cwd=clones.hub)
    return [item.note.text for item in record.fold(f"{text}\n".encode()).values()]


def test_a_note_comes_to_the_other_clone(clones: Clones) -> None:
    clones.pat.ok("note", "the form", "--scope", "src", "--intent", "x", *CODEX)
    assert at_the_remote(clones) == ["the form"]
    clones.sam.ok("sync")
    answer = clones.sam.json("activity")
    (row,) = answer["activity"]
    assert (row["agent"], row["elsewhere"], row["mine"]) == ("Codex (Pat)", True, False)
    assert answer["as_of"] is not None
    assert "another clone, as of" in clones.sam.ok("activity").out
    clones.pat.ok("note", "--clear", *CODEX)
    clones.sam.ok("sync")
    assert notes(clones.sam) == {}


def test_no_path_of_the_machine_leaves_it(clones: Clones) -> None:
    clones.pat.ok("note", "x", "--scope", str(clones.pat.path / "src"), *CODEX)
    text = clones.pat.machine.git("show", f"{REF}:activity.jsonl", cwd=clones.hub)
    assert str(clones.pat.path) not in text
    assert '"worktree":"app"' in text
    log = clones.pat.machine.git("log", "--format=%an %ae %cn %ce", REF, cwd=clones.hub)
    assert log.splitlines() == ["wc activity@localhost wc activity@localhost"]


def test_the_branch_of_the_threads_does_not_move(clones: Clones) -> None:
    before = clones.refs("refs/heads")
    clones.pat.ok("note", "one", *CODEX)
    clones.pat.ok("note", "two", *CODEX)
    assert clones.refs("refs/heads") == before
    count = clones.pat.machine.git("rev-list", "--count", REF, cwd=clones.hub)
    assert count.strip() == "1"


def test_both_wrote_while_they_were_apart(clones: Clones) -> None:
    away = clones.hub.with_name("away")
    clones.hub.rename(away)
    assert "not exchanged" in clones.pat.ok("note", "pat's", *CODEX).err
    clones.sam.ok("note", "sam's", *GEMINI)
    assert notes(clones.pat).keys() == {"pat's"}
    away.rename(clones.hub)
    for repo in (clones.pat, clones.sam, clones.pat):
        repo.ok("sync")
    assert notes(clones.pat).keys() == notes(clones.sam).keys() == {"pat's", "sam's"}
    logs = [Path(Layout(str(r.store)).activity_log) for r in (clones.pat, clones.sam)]
    assert logs[0].read_bytes() == logs[1].read_bytes()


def test_both_send_at_once(clones: Clones) -> None:
    """The lease makes the slower one fetch, merge and send again."""

    def write(repo: Here, agent: str, number: int) -> None:
        words = ("note", f"{agent} {number}", "--as", f"{agent}@s{number}")
        command = [sys.executable, "-m", "wc_cli", *words]
        env = {**repo.machine.env, "WATERCOOLER_SYNC": "inline"}
        subprocess.run(command, cwd=repo.path, env=env, check=True, timeout=60)

    jobs = [
        (repo, agent, number)
        for number in range(3)
        for repo, agent in ((clones.pat, "Codex"), (clones.sam, "Gemini"))
    ]
    with ThreadPoolExecutor(len(jobs)) as pool:
        list(pool.map(lambda job: write(*job), jobs))
    for repo in (clones.pat, clones.sam):
        repo.ok("sync")
    assert sorted(at_the_remote(clones)) == sorted(f"{a} {n}" for _, a, n in jobs)


def test_a_remote_that_takes_no_such_refs(clones: Clones) -> None:
    clones.hook("update", 'case "$1" in refs/wc/*) exit 1;; esac')
    done = clones.pat.ok("note", "x", *CODEX)
    assert "not exchanged" in done.err
    assert notes(clones.pat).keys() == {"x"}
    # It is said once, and not tried again for a day.
    assert "not exchanged" not in clones.pat.ok("note", "y", *CODEX).err
    assert "activity" not in clones.pat.ok("sync").err
    clones.pat.ok("say", "auth", "--title", "T", *CODEX)


def test_nothing_is_sent_where_nothing_is_pushed(clones: Clones) -> None:
    (clones.pat.store / "config.toml").write_text('[sync]\npush = "off"\n')
    clones.pat.ok("note", "x", *CODEX)
    assert clones.refs(REF) == {}


def test_a_log_at_the_remote_that_is_none_is_replaced(clones: Clones) -> None:
    clones.pat.machine.git("update-ref", REF, "main", cwd=clones.hub)
    clones.pat.ok("note", "x", *CODEX)
    assert at_the_remote(clones) == ["x"]


def test_it_is_sent_in_the_background(clones: Clones) -> None:
    started = time.monotonic()
    env = {"WATERCOOLER_SYNC": "background"}
    clones.pat.ok("note", "x", *CODEX, env=env)
    while not clones.refs(REF) and time.monotonic() < started + 30:
        time.sleep(0.05)
    assert at_the_remote(clones) == ["x"]
