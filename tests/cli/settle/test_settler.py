"""What follows a write: pages, edges, the commit; and what is left alone."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from tests.conftest import THREADS, Machine, Repo
from wc_cli.ledger.settle import settler
from wc_cli.ledger.store import locks

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

BACKGROUND = {"WATERCOOLER_SYNC": "background"}


def in_store(repo: Repo, *words: str) -> str:
    return repo.machine.git(*words, cwd=repo.store)


def message(repo: Repo, which: str = THREADS) -> str:
    return repo.git("log", "-1", "--format=%B", which).rstrip("\n")


def committed(repo: Repo, path: str) -> bytes:
    done = subprocess.run(
        ["git", "show", f"{THREADS}:{path}"],
        cwd=repo.path,
        env=repo.machine.env,
        capture_output=True,
        check=True,
    )
    return done.stdout


def until_settled(repo: Repo) -> None:
    """Wait for the helper."""
    deadline = time.monotonic() + 30
    while os.listdir(repo.store / ".local/unsettled"):
        assert time.monotonic() < deadline, "the helper did not come"
        time.sleep(0.01)


# --- what arrives -------------------------------------------------------------


def test_pages_edges_and_a_commit(repo: Repo) -> None:
    repo.settled("say", "auth", "--title", "Begin", "--body", "How?")
    first, second = (
        repo.settled("say", "auth", "--title", title, "--json").json["entry_id"]
        for title in ("Go on", "Further")
    )
    store = repo.store
    folder = "graph/baseline/threads/auth"
    assert sorted(os.listdir(store)) == [
        *(".git", ".gitattributes", ".gitignore", ".local", "graph", "threads")
    ]
    page = (store / "threads/auth.md").read_text()
    for one in ("Begin", "How?", "Go on", "Further", f"<!-- Entry-ID: {second} -->"):
        assert one in page
    edges = (store / folder / "edges.jsonl").read_text()
    assert f'{{"source":"entry:{first}","target":"entry:{second}"' in edges
    listed = repo.git("ls-tree", "-r", "--name-only", THREADS).splitlines()
    assert listed == [
        *(".gitattributes", ".gitignore"),
        *(f"{folder}/{one}" for one in ("edges.jsonl", "entries.jsonl", "meta.json")),
        "threads/auth.md",
    ]
    for path in listed:
        assert committed(repo, path) == (store / path).read_bytes()
    assert os.listdir(store / ".local/unsettled") == []
    assert os.listdir(store / ".local/scratch") == []


def test_the_footers_of_one_entry(repo: Repo) -> None:
    repo.git("remote", "add", "origin", "https://me:secret@example.org/acme/app.git")
    code = repo.git("rev-parse", "HEAD")
    words = ["say", "auth", "--title", "Begin", "--as", "Claude", "--json"]
    entry = repo.settled(*words).json["entry_id"]
    assert message(repo) == (
        "Claude Code: Begin (auth)\n"
        "\n"
        f"Watercooler-Entry-ID: {entry}\n"
        "Watercooler-Topic: auth\n"
        "Watercooler-Agent: Claude Code (Pat)\n"
        "Code-Repo: acme/app\n"
        "Code-Branch: main\n"
        f"Code-Commit: {code}"
    )
    author = repo.git("log", "-1", "--format=%an <%ae>|%cn <%ce>", THREADS)
    assert author == "Pat <pat@example.org>|Pat <pat@example.org>"
    trailers = "%(trailers:key=Watercooler-Entry-ID,valueonly,separator=%x2C)"
    assert repo.git("log", "-1", f"--format={trailers}", THREADS) == entry


def test_a_burst_is_one_commit_that_names_each(repo: Repo) -> None:
    repo.ok("init")
    ids = [
        repo.json("say", topic, "--title", "x")["entry_id"]
        for topic in ("auth", "billing", "auth")
    ]
    ids.append(repo.settled("ack", "auth", "--json").json["entry_id"])
    text = message(repo)
    assert text.startswith("4 entries (auth, billing)\n\n")
    named = [one for one in text.splitlines() if one.startswith("Watercooler-Entry")]
    assert sorted(one.partition(": ")[2] for one in named) == sorted(ids)
    assert repo.git("rev-list", "--count", THREADS) == "2"


class Clock:
    """A clock that stands in for `time`: others write while someone sleeps."""

    def __init__(self, writes: dict[float, Callable[[], object]]) -> None:
        self.now = 0.0
        self.due = sorted(writes.items())

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds
        while self.due and self.due[0][0] <= self.now:
            self.due.pop(0)[1]()


@pytest.mark.parametrize(
    ("seconds", "commits"),
    [
        # One that comes alone does not wait for others.
        ([0.06], 2),
        # On a busy machine, those who write at once come some time apart.
        ([0.04, 0.16, 0.3, 0.45], 1),
        # Nobody waits forever.
        ([number / 20 for number in range(1, 25)], 2),
    ],
)
def test_settling_waits_for_the_end_of_a_burst(
    repo: Repo, monkeypatch: pytest.MonkeyPatch, seconds: list[float], commits: int
) -> None:
    repo.settled("new", "auth", "--title", "x")
    repo.ok("ack", "auth")
    clock = Clock(dict.fromkeys(seconds, lambda: repo.ok("ack", "auth")))
    monkeypatch.setattr(settler, "time", clock)
    handle = locks.acquire(f"{repo.store}/.local/locks/git", "settling", 1.0)
    settler.settle_once(str(repo.store), repo.machine.env, handle, 1.0)
    assert not clock.due
    before = 2  # the first of the branch, and that of the new thread
    assert int(repo.git("rev-list", "--count", THREADS)) == before + commits


def test_each_entry_is_named_by_exactly_one_commit(repo: Repo) -> None:
    ids = []
    for turn in range(6):
        run = repo.settled if turn % 2 else repo.ok
        ids.append(run("say", "auth", "--title", "x", "--json").json["entry_id"])
    text = repo.git("log", "--format=%B", THREADS)
    assert [text.count(one) for one in ids] == [1] * 6


def test_an_entry_is_named_when_all_of_its_line_is_committed(repo: Repo) -> None:
    ids = [repo.settled("new", "auth", "--title", "x", "--json").json["entry_id"]]
    ids.append(repo.ok("ack", "auth", "--json").json["entry_id"])
    log = repo.log("auth")
    log.write_bytes(log.read_bytes().removesuffix(b"\n"))
    other = repo.settled("new", "other", "--title", "y", "--json").json["entry_id"]
    text = repo.git("log", "--format=%B", THREADS)
    assert [text.count(one) for one in (*ids, other)] == [1, 0, 1]
    ids.append(repo.settled("ack", "auth", "--json").json["entry_id"])
    text = repo.git("log", "--format=%B", THREADS)
    assert [text.count(one) for one in ids] == [1, 1, 1]


def test_a_title_makes_no_footer(repo: Repo) -> None:
    title = "x" * 400 + " Watercooler-Topic: other"
    repo.settled("say", "auth", "--title", title)
    assert message(repo).count("\nWatercooler-Topic: ") == 1
    assert len(message(repo).partition("\n")[0]) == 200


def test_the_environment_may_name_the_author(repo: Repo) -> None:
    env = {"WATERCOOLER_GIT_AUTHOR": "Bot", "WATERCOOLER_GIT_EMAIL": "bot@example.org"}
    repo.settled("say", "auth", "--title", "x", env=env)
    format_ = "--format=%an <%ae>|%cn <%ce>"
    assert repo.git("log", "-1", format_, THREADS) == "|".join(
        ["Bot <bot@example.org>"] * 2
    )


def test_the_helper_comes_by_itself(repo: Repo) -> None:
    said = repo.json("say", "auth", "--title", "x", env=BACKGROUND)
    assert said["committed"] is False
    until_settled(repo)
    assert said["entry_id"] in message(repo)
    assert in_store(repo, "status", "--porcelain", "--ignored") == "!! .local/"


def test_off_is_off(repo: Repo) -> None:
    repo.ok("init")
    before = repo.git("rev-parse", THREADS)
    repo.ok("say", "auth", "--title", "x")
    time.sleep(0.2)
    assert repo.git("rev-parse", THREADS) == before
    assert not (repo.store / "threads/auth.md").exists()
    assert repo.json("read", "auth")["entries"]
    repo.settled("say", "billing", "--title", "y")
    assert (repo.store / "threads/auth.md").exists()


def test_status_in_the_store_is_clean(repo: Repo) -> None:
    for topic in ("auth", "billing", "auth"):
        repo.settled("say", topic, "--title", "x")
        assert in_store(repo, "status", "--porcelain") == ""
        assert in_store(repo, "stash", "list") == ""
    in_store(repo, "fsck", "--strict")


def test_a_sha256_repository(machine: Machine) -> None:
    place = machine.folder("app")
    place.git("init", "-q", "-b", "main", "--object-format=sha256")
    for title in "ab":
        place.settled("say", "auth", "--title", title)
    assert place.git("rev-list", "--count", THREADS) == "3"
    assert in_store(place, "status", "--porcelain") == ""


def test_line_ends_of_the_user_s_do_not_matter(repo: Repo) -> None:
    repo.git("config", "core.autocrlf", "true")
    repo.settled("say", "auth", "--title", "x", "--body", "a\r\nb\n")
    repo.settled("ack", "auth")
    assert in_store(repo, "status", "--porcelain") == ""
    path = "graph/baseline/threads/auth/entries.jsonl"
    assert committed(repo, path) == repo.log("auth").read_bytes()


# --- complete lines -----------------------------------------------------------


def test_a_torn_line_is_never_committed(repo: Repo) -> None:
    repo.settled("say", "auth", "--title", "x")
    log, path = repo.log("auth"), "graph/baseline/threads/auth/entries.jsonl"
    whole = log.read_bytes()
    with log.open("ab") as file:
        file.write(b'{"entry_id": "01')
    (repo.store / ".local/unsettled/auth").touch()
    repo.settled("say", "billing", "--title", "y")
    assert committed(repo, path) == whole
    assert log.read_bytes() == whole + b'{"entry_id": "01'
    # The next entry starts on a line of its own; the bad one is kept.
    said = repo.settled("say", "auth", "--title", "z", "--json").json
    assert said["idx"] == 1
    lines = log.read_bytes().split(b"\n")
    assert lines[1] == b'{"entry_id": "01'
    assert [one["title"] for one in repo.json("read", "auth")["entries"]] == ["x", "z"]
    assert committed(repo, path) == log.read_bytes()


def test_projections_come_back_the_same(repo: Repo) -> None:
    for title in "abc":
        repo.settled("say", "auth", "--title", title, "--body", f"{title}\n---\n")
    paths = [
        *(repo.log("auth").with_name(one) for one in ("meta.json", "edges.jsonl")),
        repo.store / "threads/auth.md",
    ]
    were = [path.read_bytes() for path in paths]
    for path in paths:
        path.unlink()
    (repo.store / ".local/unsettled/auth").touch()
    repo.settled("say", "billing", "--title", "x")
    assert [path.read_bytes() for path in paths] == were
    assert in_store(repo, "status", "--porcelain") == ""


# --- what is not ours ---------------------------------------------------------

HOOK = '#!/bin/sh\necho "$0" >> "{}"\nexit 1\n'


def snapshot(repo: Repo) -> dict[str, object]:
    """Everything of the code's repository that wc has no business with."""
    git = repo.path / ".git"
    files = {
        str(path.relative_to(repo.path)): path.read_bytes()
        for path in sorted(repo.path.rglob("*"))
        if path.is_file() and ".git" not in path.relative_to(repo.path).parts
    }
    kept = ["HEAD", "index", "config", "refs/stash", "logs/HEAD", "logs/refs/stash"]
    kept += ["refs/heads/main", "refs/heads/other", "logs/refs/heads/main", "ORIG_HEAD"]
    hooks = {one.name: one.read_bytes() for one in (git / "hooks").iterdir()}
    inside = {one: (git / one).read_bytes() for one in kept if (git / one).exists()}
    return {**files, **inside, **hooks, "names": sorted(os.listdir(repo.path))}


def test_the_code_is_left_alone(repo: Repo) -> None:
    ran = repo.machine.root / "hooks-that-ran"
    (repo.path / "code.txt").write_text("stashed\n")
    repo.git("stash", "-q")
    repo.git("branch", "other")
    (repo.path / "code.txt").write_text("staged\n")
    repo.git("add", "code.txt")
    (repo.path / "code.txt").write_text("changed\n")
    (repo.path / "new.txt").write_text("untracked\n")
    for name in (
        "pre-commit",
        "post-commit",
        "post-checkout",
        "commit-msg",
        "reference-transaction",
        "pre-auto-gc",
        "post-index-change",
    ):
        hook = repo.path / ".git/hooks" / name
        hook.write_text(HOOK.format(ran))
        hook.chmod(0o755)
    before = snapshot(repo)
    repo.settled("say", "auth", "--title", "x")
    repo.settled("set-status", "auth", "CLOSED")
    repo.ok("read", "auth")
    repo.ok("say", "billing", "--title", "y", env=BACKGROUND)
    until_settled(repo)
    assert snapshot(repo) == before
    assert not ran.exists()
    status = repo.git("-c", "core.hooksPath=/dev/null", "status", "--porcelain")
    assert status.splitlines() == ["MM code.txt", "?? new.txt"]


def test_what_others_changed_in_the_store_is_not_ours_to_commit(repo: Repo) -> None:
    repo.settled("say", "auth", "--title", "x")
    (repo.store / "NOTES.md").write_text("by hand\n")
    (repo.store / ".gitattributes").write_text("* -text merge=union\n*.png binary\n")
    repo.settled("ack", "auth")
    assert (repo.store / "NOTES.md").read_text() == "by hand\n"
    assert in_store(repo, "status", "--porcelain") == "?? NOTES.md"
    in_store(repo, "add", "NOTES.md")
    in_store(repo, "commit", "-q", "-m", "A note")
    repo.settled("ack", "auth")
    assert committed(repo, "NOTES.md") == b"by hand\n"
    assert in_store(repo, "status", "--porcelain") == ""


# --- when it does not work ----------------------------------------------------


def branch_lock(repo: Repo) -> Path:
    """What git leaves where it was killed while it moved the branch."""
    return repo.path / ".git/refs/heads" / f"{THREADS}.lock"


def test_what_holds_a_commit_up_is_reported_until_it_is_gone(repo: Repo) -> None:
    repo.ok("init")
    lock = branch_lock(repo)
    lock.touch()
    words = ["say", "auth", "--title", "x", "--as", "Codex"]
    said = repo.settled(*words, "--json").json
    assert (said["saved"], said["committed"]) == (True, False)
    (note,) = said["notes"]
    assert "not committed" in note
    assert "wc doctor" in note
    done = repo.ok(*words)
    assert "committed" not in done.out
    assert "note: settling, at 20" in done.err
    assert "Z: not committed: " in done.err
    assert (repo.store / "threads/auth.md").exists()
    # Once it is gone, the next command finishes.
    lock.unlink()
    said = repo.settled(*words, "--json").json
    assert (said["committed"], said["notes"]) == (True, [])
    assert message(repo).startswith("3 entries (auth)")


def test_a_helper_that_cannot_commit_says_so_at_the_next_write(repo: Repo) -> None:
    repo.ok("init")
    branch_lock(repo).touch()
    words = ["say", "auth", "--title", "x", "--as", "Codex"]
    repo.ok(*words, env=BACKGROUND)
    deadline = time.monotonic() + 30
    while not (repo.store / ".local/settling.json").exists():
        assert time.monotonic() < deadline
        time.sleep(0.02)
    assert "not committed" in repo.ok(*words).err


def test_a_write_that_failed_leaves_nothing_to_settle(repo: Repo) -> None:
    repo.ok("init")
    words = ["say", "auth", "--title", "x", "--body", "-"]
    argv = shell_limit(repo, "1", *words)
    done = repo.machine.run(argv, repo.path, feed=b"a" * 100_000)
    assert done.code == 7, done
    said = repo.settled("say", "billing", "--title", "x", "--json").json
    assert (said["committed"], said["notes"]) == (True, [])
    assert os.listdir(repo.store / ".local/unsettled") == []


def shell_limit(repo: Repo, blocks: str, *words: str) -> list[str]:
    """The command in a shell that lets no file grow over so many kilobytes."""
    # What measures coverage would be cut short as well.
    script = f'unset "${{!COV@}}"; ulimit -f {blocks}; exec "$@"'
    return ["bash", "-c", script, "bash", *repo.machine.wc_words, *words]


@pytest.mark.parametrize("seed", range(2))
def test_a_helper_that_is_killed_loses_nothing(repo: Repo, seed: int) -> None:
    dice = random.Random(seed)
    repo.ok("init")
    store = repo.store
    ids = []
    for turn in range(5):
        topic = f"t{turn % 2}"
        ids.append(repo.json("say", topic, "--title", "x", "--new")["entry_id"])
        helper = subprocess.Popen(
            [sys.executable, "-m", "wc_cli.run.background", str(store)],
            env=repo.machine.env,
            start_new_session=True,
        )
        time.sleep(dice.uniform(0.05, 0.3))
        # git, where it runs, dies with it: nobody is left to finish the step.
        os.killpg(helper.pid, signal.SIGKILL)
        helper.wait()
    said = repo.settled("say", "t0", "--title", "x", "--json").json
    assert (said["committed"], said["notes"]) == (True, [])
    ids.append(said["entry_id"])
    text = repo.git("log", "--format=%B", THREADS)
    assert [text.count(one) for one in ids] == [1] * 6
    assert in_store(repo, "status", "--porcelain") == ""
    assert os.listdir(store / ".local/unsettled") == []
    in_store(repo, "fsck", "--strict")


def test_a_git_that_was_killed_leaves_nothing_in_the_way(repo: Repo) -> None:
    repo.settled("say", "auth", "--title", "x")
    (admin,) = (repo.path / ".git/worktrees").iterdir()
    # Ours, from a helper that died, and one that may be someone else's.
    left = ("index.wc", "index.wc.lock", "index.lock")
    for name in left:
        (admin / name).write_bytes(b"half")
    said = repo.settled("ack", "auth", "--json").json
    assert (said["committed"], said["notes"]) == (True, [])
    assert in_store(repo, "--no-optional-locks", "status", "--porcelain") == ""
    assert [name for name in left if (admin / name).exists()] == ["index.lock"]


def test_a_git_that_was_killed_while_it_moved_the_branch(repo: Repo) -> None:
    repo.settled("say", "auth", "--title", "x")
    (admin,) = (repo.path / ".git/worktrees").iterdir()
    locks = (repo.path / f".git/refs/heads/{THREADS}.lock", admin / "HEAD.lock")
    (repo.store / ".local/committing").touch()
    for lock in locks:
        lock.touch()
    said = repo.settled("ack", "auth", "--json").json
    assert (said["committed"], said["notes"]) == (True, [])
    assert not any(lock.exists() for lock in locks)
    assert not (repo.store / ".local/committing").exists()


def test_a_git_that_outlives_its_helper_is_waited_for(repo: Repo) -> None:
    repo.ok("say", "auth", "--title", "x")
    # A git that takes its time, and a helper that is killed in the meantime.
    slow = repo.machine.root / "slow"
    slow.mkdir()
    git = shutil.which("git", path=repo.machine.env["PATH"])
    (slow / "git").write_text(
        f'#!/bin/sh\ncase "$*" in *fast-import*) touch {slow}/begun; sleep 1 ;; esac\n'
        f'exec {git} "$@"\n'
    )
    (slow / "git").chmod(0o755)
    env = {**repo.machine.env, "PATH": f"{slow}:{repo.machine.env['PATH']}"}
    words = [sys.executable, "-m", "wc_cli.run.background", str(repo.store)]
    helper = subprocess.Popen(words, env=env)
    while not (slow / "begun").exists():
        time.sleep(0.01)
    helper.kill()
    helper.wait()
    start = time.monotonic()
    said = repo.settled("ack", "auth", "--json").json
    assert said["committed"]
    assert time.monotonic() - start > 0.5
    text = repo.git("log", "--format=%B", THREADS)
    assert text.count(said["entry_id"]) == 1
    assert in_store(repo, "status", "--porcelain") == ""


def test_two_helpers_do_one_s_work(repo: Repo) -> None:
    repo.ok("say", "auth", "--title", "x")
    words = [sys.executable, "-m", "wc_cli.run.background", str(repo.store)]
    helpers = [subprocess.Popen(words, env=repo.machine.env) for _ in range(3)]
    assert [one.wait(30) for one in helpers] == [0, 0, 0]
    assert repo.git("rev-list", "--count", THREADS) == "2"


def test_settling_outside_git_needs_no_git(machine: Machine, tmp_path: Path) -> None:
    place = machine.folder("notes")
    env = {"PATH": str(tmp_path / "nothing")}
    said = place.settled("say", "auth", "--title", "x", "--json", env=env).json
    assert (said["committed"], said["pushed"], said["notes"]) == (False, None, [])
    assert (place.store / "threads/auth.md").exists()


def test_a_line_that_someone_changed_outside_git_ends_settling(
    machine: Machine,
) -> None:
    place = machine.folder("notes")
    env = {"WATERCOOLER_DIR": str(place.path)}
    place.ok("say", "auth", "--title", "before", env=env)
    log = place.path / "graph/baseline/threads/auth/entries.jsonl"
    log.write_text(log.read_text().replace("before", "after"))
    place.settled("say", "auth", "--title", "x", env=env)
    assert os.listdir(place.path / ".local/unsettled") == []
    assert '"after"' in log.read_text()


def test_without_git_a_repository_says_so(repo: Repo, tmp_path: Path) -> None:
    env = {"PATH": str(tmp_path / "nothing")}
    said = repo.fails(7, "say", "auth", "--title", "x", env=env)
    assert "git is not installed" in said
    repo.ok("init")
    said = repo.settled("say", "auth", "--title", "x", "--json", env=env).json
    assert "git is not installed" in said["notes"][0]


def test_a_commit_takes_nothing_away(repo: Repo) -> None:
    """A checkout that was never finished has empty folders: what is written
    there must not become the whole of the branch."""
    for topic in ("auth", "auth", "billing"):
        repo.settled("say", topic, "--title", "x")
    before = repo.git("rev-parse", THREADS)
    path = "graph/baseline/threads/auth/entries.jsonl"
    was = committed(repo, path)
    store = repo.store
    for name in ("graph", "threads", ".local"):
        shutil.rmtree(store / name)
    said = repo.settled("say", "auth", "--title", "y", "--json").json
    assert said["committed"]
    assert repo.git("rev-parse", f"{THREADS}~") == before
    # What the branch has is there again, of every thread, and ours with it.
    lines = committed(repo, path)
    assert lines.startswith(was)
    assert lines.count(b"\n") == was.count(b"\n") + 1
    assert repo.log("auth").read_bytes() == lines
    assert len(repo.entries("billing")) == 1
    assert not repo.machine.git("status", "--porcelain", cwd=repo.store)


def test_the_helper_imports_nothing_from_where_it_is_started(repo: Repo) -> None:
    told = repo.machine.root / "told"
    (repo.path / "wc_cli").mkdir()
    for name in ("json.py", "wc_cli/__init__.py"):
        (repo.path / name).write_text(f"open({str(told)!r}, 'w').close()\n")
    repo.machine.wc_words = (sys.executable, "-P", *repo.machine.wc_words[1:])
    repo.ok("say", "auth", "--title", "x", env={"WATERCOOLER_SYNC": "background"})
    until_settled(repo)
    assert not told.exists()


def test_a_helper_that_is_stopped_is_named(repo: Repo) -> None:
    repo.ok("say", "auth", "--title", "x")
    lock = locks.acquire(str(repo.store / ".local/locks/git"), "settling", 0)
    marker = repo.store / ".local/unsettled/auth"
    os.utime(marker, (time.time() - 120,) * 2)
    assert f"settling (process {os.getpid()}," in repo.wc("doctor").out
    os.close(lock)


def test_what_stands_in_the_place_of_the_report_ends_no_settling(repo: Repo) -> None:
    repo.ok("say", "auth", "--title", "x")
    report = repo.store / ".local/settling.json"
    report.mkdir()
    done = repo.settled("say", "auth", "--title", "y", "--json").json
    assert done["committed"]
    assert report.is_dir()
    assert ".local/settling.json" in repo.wc("doctor").out
