"""``wc radar``, with real worktrees."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from tests.contract.inprocess import Here
from wc_cli.edits.radar import merges
from wc_cli.ledger.branch.git import Git

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Machine

AUTH = "def login(user):\n    a = 1\n    b = 2\n    c = 3\n    return a\n"
NUMBERS = "".join(f"{number}\n" for number in range(20))


@pytest.fixture
def repo(machine: Machine) -> Here:
    repo = Here(machine, machine.repo().path)
    files = {"auth.py": AUTH, "CHANGELOG.md": "# Changes\n", "notes.txt": NUMBERS}
    for name, text in files.items():
        (repo.path / name).write_text(text, encoding="utf-8")
    repo.git("add", ".")
    repo.git("commit", "-qm", "code")
    return repo


@pytest.fixture
def login(repo: Here) -> Here:
    return repo.worktree("app-wt-login")


@pytest.fixture
def review(repo: Here) -> Here:
    return repo.worktree("app-wt-review")


def edit(repo: Here, name: str, old: str, new: str) -> None:
    path = repo.path / name
    path.write_text(path.read_text(encoding="utf-8").replace(old, new), "utf-8")


def pairs_of(fields: dict[str, Any]) -> dict[tuple[str, str], dict[str, list[Any]]]:
    """The files of each pair, by kind."""
    return {
        tuple(sorted((pair["left"], pair["right"]))): {
            "hot": [file["path"] for file in pair["hot"]],
            "registries": [file["path"] for file in pair["registries"]],
            "soft": pair["soft"],
        }
        for pair in fields["pairs"]
    }


def state_of(repo: Here) -> tuple[Any, ...]:
    """Everything that a radar must not touch."""
    index = repo.path / os.fspath(repo.git("rev-parse", "--git-path", "index"))
    objects = repo.git("count-objects", "-v")
    names = sorted(path.name for path in repo.path.iterdir())
    info = index.stat()
    return info.st_mtime_ns, info.st_ino, index.read_bytes(), objects, names


def test_hot_soft_and_registry(login: Here, review: Here) -> None:
    for number, repo in enumerate((login, review)):
        edit(repo, "auth.py", "b = 2", f"b = 2{number}")
        edit(repo, "CHANGELOG.md", "# Changes\n", f"# Changes\n- {number}\n")
    edit(login, "notes.txt", "2\n3\n", "2\nthree\n")
    edit(review, "notes.txt", "18\n", "eighteen\n")
    review.git("commit", "-qam", "work")
    before = [state_of(repo) for repo in (login, review)]
    fields = login.json("radar")
    assert [state_of(repo) for repo in (login, review)] == before
    kinds = {
        "hot": ["auth.py"],
        "registries": ["CHANGELOG.md"],
        "soft": ["notes.txt"],
    }
    assert pairs_of(fields) == {("login", "review"): kinds}
    (pair,) = fields["pairs"]
    assert pair["hot"][0] == {
        "path": "auth.py",
        "conflict": "contents",
        "symbols": ["login"],
    }
    assert pair["registries"][0]["hint"] == "keep the lines of both sides"
    files = {side["name"]: side["files"] for side in fields["worktrees"]}
    assert files == {
        "main": [],
        "login": ["CHANGELOG.md", "auth.py", "notes.txt"],
        "review": ["CHANGELOG.md", "auth.py", "notes.txt"],
    }


def test_it_is_computed_without_a_store(login: Here, review: Here) -> None:
    edit(login, "auth.py", "b = 2", "b = 20")
    edit(review, "auth.py", "b = 2", "b = 21")
    assert login.ok("radar").out.splitlines()[-2:] == [
        "login + review",
        "    hot      auth.py · in login",
    ]
    assert "watercooler/threads" not in login.git("branch")


def test_what_may_be_secret_or_is_ignored_gets_into_no_object(login: Here) -> None:
    login.ok("new", "login", "--title", "a store")
    (login.path / ".gitignore").write_text("ignored\n", encoding="utf-8")
    for name in (".env", "ignored", "server.pem", "plain.txt"):
        (login.path / name).write_text(f"the text of {name}", encoding="utf-8")
    (login.path / "huge.bin").write_bytes(b"\0" * (9 << 20))
    (side,) = [x for x in login.json("radar")["worktrees"] if x.get("here")]
    assert side["files"] == [".gitignore", "plain.txt"]
    assert side["left_out"] == 3
    snapshots = next(login.store.parent.glob("*/.local/snapshots"))
    env = {**login.machine.env, "GIT_OBJECT_DIRECTORY": str(snapshots)}
    common = login.git("rev-parse", "--path-format=absolute", "--git-common-dir")
    git = Git(common.strip(), env, bare=True)
    env["GIT_ALTERNATE_OBJECT_DIRECTORIES"] = f"{common.strip()}/objects"
    words = ("cat-file", "--batch", "--batch-all-objects", "--buffer")
    content = git.run(*words, env=env)
    assert b"the text of plain.txt" in content
    assert b"the text of .env" not in content
    assert b"the text of ignored" not in content
    assert b"the text of server.pem" not in content


def test_deleted_added_and_staged_files_and_links_count(
    login: Here, review: Here
) -> None:
    (login.path / "auth.py").unlink()
    edit(review, "auth.py", "b = 2", "b = 21")
    (login.path / "new.txt").write_text("new", encoding="utf-8")
    login.git("add", "new.txt")
    (login.path / "link").symlink_to("nowhere")
    (login.path / "ü\n.txt").write_text("odd", encoding="utf-8")
    fields = login.json("radar")
    (pair,) = fields["pairs"]
    assert pair["hot"] == [{"path": "auth.py", "conflict": "modify/delete"}]
    (side,) = [side for side in fields["worktrees"] if side.get("here")]
    assert side["files"] == ["auth.py", "link", "new.txt", "ü .txt"]


def test_a_merge_with_conflicts_in_progress_is_read(login: Here, review: Here) -> None:
    edit(login, "auth.py", "b = 2", "b = 20")
    login.git("commit", "-qam", "left")
    edit(review, "auth.py", "b = 2", "b = 21")
    review.git("commit", "-qam", "right")
    with pytest.raises(AssertionError):
        login.git("merge", "review")
    assert pairs_of(login.json("radar"))["login", "review"]["hot"] == ["auth.py"]


def test_a_change_is_seen_at_once_and_gone_when_it_is_undone(
    login: Here, review: Here
) -> None:
    login.ok("new", "login", "--title", "a store")
    edit(login, "auth.py", "b = 2", "b = 20")
    assert pairs_of(login.json("radar")) == {}
    edit(review, "auth.py", "b = 2", "b = 21")
    hot = pairs_of(login.json("radar"))["login", "review"]["hot"]
    assert hot == ["auth.py"]
    # The same number of bytes.
    edit(review, "auth.py", "b = 21", "b = 20")
    assert pairs_of(login.json("radar")) == {}


def test_what_has_not_changed_is_not_computed_again(
    login: Here, review: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    login.ok("new", "login", "--title", "a store")
    for repo in (login, review):
        edit(repo, "auth.py", "b = 2", f"b = {repo.path.name}")
        os.utime(repo.path / "auth.py", (1_700_000_000, 1_700_000_000))
    first = login.json("radar")
    words: list[str] = []
    run = Git.run

    def counted(git: Git, *line: str, **options: Any) -> bytes:
        words.append(line[0])
        return run(git, *line, **options)

    monkeypatch.setattr(Git, "run", counted)
    assert pairs_of(login.json("radar")) == pairs_of(first)
    assert words == ["status"] * 3
    edit(review, "notes.txt", "5\n", "five\n")
    words.clear()
    login.json("radar")
    assert words.count("write-tree") == 1
    # Snapshots that are gone are made again.
    for path in login.store.parent.glob("*/.local/snapshots/*/*"):
        path.unlink()
    assert pairs_of(login.json("radar")) == pairs_of(first)


def test_a_killed_radar_leaves_nothing_for_long(
    login: Here, review: Here, tmp_path: Path
) -> None:
    login.ok("new", "login", "--title", "a store")
    edit(login, "auth.py", "b = 2", "b = 20")
    edit(review, "auth.py", "b = 2", "b = 21")
    programs, temporary, reached = (tmp_path / name for name in ("p", "t", "reached"))
    programs.mkdir()
    temporary.mkdir()
    git = programs / "git"
    git.write_text(
        f'#!/bin/sh\ncase "$*" in *merge-tree*) : >{reached}; exec sleep 1 ;; esac\n'
        f'exec {shutil.which("git")} "$@"\n'
    )
    git.chmod(0o755)
    env = {**login.machine.env, "TMPDIR": str(temporary)}
    slow = {**env, "PATH": f"{programs}:{env['PATH']}"}
    words = [sys.executable, "-m", "wc_cli", "radar"]
    with subprocess.Popen(words, cwd=login.path, env=slow) as process:
        while not reached.exists():
            assert process.poll() is None
        process.kill()
    (merges,) = login.store.parent.glob("*/.local/merges")
    assert len(list(merges.iterdir())) == 1
    assert pairs_of(login.json("radar", env=env))["login", "review"]["hot"]
    assert list(merges.iterdir()) == []
    assert list(temporary.iterdir()) == []


def test_many_old_snapshots_are_removed_at_once(login: Here, review: Here) -> None:
    login.ok("new", "login", "--title", "a store")
    edit(login, "auth.py", "b = 2", "b = 20")
    edit(review, "auth.py", "b = 2", "b = 21")
    first = pairs_of(login.json("radar"))
    (snapshots,) = login.store.parent.glob("*/.local/snapshots")
    sample = snapshots / "17"
    sample.mkdir(exist_ok=True)
    for number in range(40):
        (sample / f"{number:038x}").write_text("old")
    assert pairs_of(login.json("radar")) == first
    assert len(list(sample.glob("*"))) < 5
    assert list(snapshots.with_name("merges").iterdir()) == []


def test_a_store_that_is_read_only(login: Here, review: Here) -> None:
    login.ok("new", "login", "--title", "a store")
    edit(login, "auth.py", "b = 2", "b = 20")
    edit(review, "auth.py", "b = 2", "b = 21")
    (local,) = login.store.parent.glob("*/.local")
    store = local.parent
    script = (
        f"mount --bind {store} {store} && mount -o remount,ro,bind {store} && "
        'cd "$1" && shift && "$@" radar --json; echo "code $?"; "$@" radar review'
    )
    words = ["unshare", "-rm", "sh", "-c", script, "sh", str(login.path)]
    done = login.machine.run([*words, *login.machine.wc_words], login.path)
    if "code" not in done.out or "mount:" in done.err:
        pytest.skip(f"NO MOUNTS: read-only cannot be tried here ({done.err.strip()})")
    first, code, *_ = done.out.splitlines()
    assert pairs_of(json.loads(first))["login", "review"]["hot"] == ["auth.py"]
    assert (code, done.code) == ("code 0", 9)


def test_a_worktree_that_cannot_be_compared_hides_no_other(
    login: Here, review: Here
) -> None:
    gone = login.worktree("app-wt-gone")
    orphan = login.worktree("app-wt-orphan")
    orphan.git("checkout", "-q", "--orphan", "pages")
    orphan.git("commit", "-qm", "another history")
    gone.path.rename(gone.path.with_name("elsewhere"))
    unborn = login.worktree("app-wt-unborn")
    unborn.git("checkout", "-q", "--orphan", "empty")
    edit(login, "auth.py", "b = 2", "b = 20")
    edit(review, "auth.py", "b = 2", "b = 21")
    (review.path / "unreadable.txt").write_text("x", encoding="utf-8")
    (review.path / "unreadable.txt").chmod(0)
    fields = login.json("radar")
    problems = {side["name"]: side.get("problem") for side in fields["worktrees"]}
    assert problems == {
        "main": None,
        "login": None,
        "review": None,
        "gone": "its folder is missing",
        "orphan": None,
        "unborn": "has no commit yet",
    }
    assert list(pairs_of(fields)) == [("login", "review")]


def test_what_could_not_be_compared_is_not_called_free_of_conflicts(
    login: Here, review: Here
) -> None:
    orphan = login.worktree("app-wt-orphan")
    orphan.git("checkout", "-q", "--orphan", "pages")
    orphan.git("commit", "-qm", "another history")
    problem = login.fails(7, "radar", "orphan")
    assert "login and orphan have no history in common" in problem
    (orphan.path / ".git").write_text("gitdir: /nowhere\n")
    assert "orphan could not be compared" in login.fails(7, "radar", "orphan")
    edit(login, "auth.py", "b = 2", "b = 20")
    edit(review, "auth.py", "b = 2", "b = 21")
    moved = Here(login.machine, login.path.with_name("elsewhere"))
    login.path.rename(moved.path)
    assert "git worktree repair" in moved.fails(3, "radar", "review")
    moved.git("worktree", "repair")
    assert moved.wc("radar", "review").code == 9
    # The folder is gone, its branch is not.
    review.git("commit", "-qam", "work")
    review.path.rename(review.path.with_name("lost"))
    problem = moved.fails(7, "radar", "review")
    assert "review could not be compared: its folder is missing" in problem


def test_submodules_that_conflict(repo: Here, login: Here, review: Here) -> None:
    """Git prints advice about them among the messages for programs."""
    allow = ("-c", "protocol.file.allow=always")
    repo.git("clone", "-q", ".", "../lib")
    edits = [(login, "b = 20"), (review, "b = 21")]
    repo.git(*allow, "submodule", "--quiet", "add", "../lib", "vendor/lib")
    repo.git("commit", "-qm", "lib")
    for tree, text in edits:
        tree.git("reset", "-q", "--hard", "main")
        tree.git(*allow, "submodule", "--quiet", "update", "--init")
        lib = Here(repo.machine, tree.path / "vendor/lib")
        edit(lib, "auth.py", "b = 2", text)
        lib.git("commit", "-qam", "work")
        edit(tree, "notes.txt", "2\n3\n", f"{text}\n")
    third = repo.worktree("app-wt-third")
    edit(third, "notes.txt", "2\n3\n", "third\n")
    fields = login.json("radar")
    (pair,) = (
        pair
        for pair in fields["pairs"]
        if {pair["left"], pair["right"]} == {"login", "review"}
    )
    hot = {file["path"]: file["conflict"] for file in pair["hot"]}
    assert hot.keys() == {"notes.txt", "vendor/lib"}
    assert hot["vendor/lib"].startswith("submodule")
    assert len(fields["pairs"]) == 3
    assert login.wc("radar", "review").code == 9


def test_fetched_branches_on_request(repo: Here, login: Here) -> None:
    repo.git("clone", "-q", "--bare", ".", "../hub.git")
    repo.git("remote", "add", "origin", "../hub.git")
    repo.git("checkout", "-q", "-b", "theirs")
    edit(repo, "auth.py", "b = 2", "b = 20")
    repo.git("commit", "-qam", "theirs")
    repo.git("push", "-q", "origin", "theirs")
    repo.git("checkout", "-q", "main")
    repo.git("branch", "-qD", "theirs")
    edit(login, "auth.py", "b = 2", "b = 21")
    assert pairs_of(login.json("radar")) == {}
    pairs = pairs_of(login.json("radar", "--remote"))
    assert pairs["login", "origin/theirs"]["hot"] == ["auth.py"]


def test_conflicts_with_one_branch(repo: Here, login: Here, review: Here) -> None:
    edit(login, "auth.py", "b = 2", "b = 20")
    edit(review, "auth.py", "b = 2", "b = 21")
    answer = login.wc("radar", "review")
    assert (answer.code, answer.out.splitlines()[0]) == (9, "login + review")
    assert "1 file would conflict." in answer.err
    answer = login.wc("radar", "main")
    assert (answer.code, answer.err) == (0, "Nothing would conflict with main.\n")
    answer = repo.wc("radar", "HEAD")
    assert answer.err == "Nothing would conflict with HEAD.\n"
    edit(repo, "auth.py", "b = 2", "b = 22")
    repo.git("commit", "-qam", "base")
    answer = login.wc("radar", "main", "--json")
    assert answer.code == 9
    (pair,) = json.loads(answer.out)["pairs"]
    assert (pair["left"], pair["right"]) == ("login", "main")
    commit = repo.git("rev-parse", "HEAD").strip()
    assert login.wc("radar", commit).code == 9
    assert "no worktree, branch or commit 'nope'" in login.fails(3, "radar", "nope")
    assert "Name another branch" in repo.fails(2, "radar", "main")
    assert "no worktree, branch" in login.fails(3, "radar", "--", "--all")


def test_an_agent_names_its_worktree(login: Here, review: Here) -> None:
    agent = {"WATERCOOLER_AGENT": "Codex"}
    review.ok("new", "login", "--title", "a store", env=agent)
    edit(login, "auth.py", "b = 2", "b = 20")
    edit(review, "auth.py", "b = 2", "b = 21")
    who = {side["name"]: side.get("agent") for side in login.json("radar")["worktrees"]}
    assert who == {"main": None, "login": None, "review": "Codex@review"}
    assert login.wc("radar", "Codex@review").code == 9


def test_who_wrote_last_names_a_worktree(login: Here, review: Here) -> None:
    """And not who looked at it first, or last."""

    def who() -> object:
        sides = login.json("radar")["worktrees"]
        return next(side.get("agent") for side in sides if side["name"] == "review")

    codex, claude = ({"WATERCOOLER_AGENT": name} for name in ("Codex", "Claude Code"))
    review.ok("whoami", env=claude)
    review.ok("new", "login", "--title", "a store", env=codex)
    edit(login, "auth.py", "b = 2", "b = 20")
    edit(review, "auth.py", "b = 2", "b = 21")
    review.ok("whoami", env=claude)
    review.ok("list", env={"CLAUDECODE": "1"})
    assert who() == "Codex@review"
    review.ok("say", "login", "-m", "Me too", env=claude)
    assert who() == "Claude Code@review"
    review.ok("say", "login", "-m", "Well", "--as", "Gemini CLI")
    assert who() == "Gemini CLI@review"
    # A file that an agent writes counts, too; what it reads does not.
    for tool, expected in (("Read", "Gemini CLI@review"), ("Edit", "Codex@review")):
        path = str(review.path / "auth.py")
        sent = {"session_id": "s", "cwd": str(review.path), "tool_name": tool}
        feed = json.dumps({**sent, "tool_input": {"file_path": path}}).encode()
        words = ("brief", "--hook", "after-tool", "--client", "codex")
        review.ok(*words, feed=feed)
        assert who() == expected
    review.ok("note", "tidying", env=claude)
    assert who() == "Claude Code@review"
    review.ok("say", "login", "-m", "My turn", env=codex)
    assert who() == "Codex@review"


def test_worktrees_of_the_same_name(repo: Here, login: Here) -> None:
    (repo.path.parent / "other").mkdir()
    twin = repo.worktree("other/app-wt-login", "twin")
    main = repo.worktree("main", "own")
    edit(repo, "notes.txt", "2\n3\n", "2\nthree\n")
    for number, tree in enumerate((login, twin, main)):
        edit(tree, "auth.py", "b = 2", f"b = 2{number}")
        edit(tree, "CHANGELOG.md", "# Changes\n", f"# Changes\n- {number}\n" * 99)
    # Their snapshots are made at the same time, each in an index of its own.
    sides = {side["name"]: side["files"] for side in repo.json("radar")["worktrees"]}
    both = ["CHANGELOG.md", "auth.py"]
    assert sides == {
        "main": ["notes.txt"],
        "login": both,
        "login (2)": both,
        "own": both,
    }
    for name in ("login (2)", "twin"):
        (pair,) = json.loads(login.wc("radar", name, "--json").out)["pairs"]
        assert (pair["left"], pair["right"]) == ("login", "login (2)")
    (pair,) = json.loads(twin.wc("radar", "login", "--json").out)["pairs"]
    assert (pair["left"], pair["right"]) == ("login (2)", "login")
    twin.fails(2, "radar", "login (2)")


def test_outside_git_and_with_invalid_words(machine: Machine, repo: Here) -> None:
    folder = Here(machine, machine.folder("plain").path)
    assert "git repository" in folder.fails(2, "radar")
    assert "git repository" in folder.fails(2, "radar", "main")
    repo.fails(2, "radar", "--every", "0")
    for option in ("--watch", "--background"):
        assert "compare all" in repo.fails(2, "radar", "main", option)


def test_an_answer_that_does_not_begin_with_a_tree_is_not_a_merge(
    repo: Here, tmp_path: Path
) -> None:
    from wc_cli.edits.radar.objects import Objects

    head = repo.git("rev-parse", "HEAD").strip()
    git = Git(str(repo.path), repo.machine.env)
    objects = Objects(f"{repo.path}/.git", str(tmp_path), str(tmp_path))
    clean, unknown = merges.merge_all(git, objects, [(head, head), (head, "b" * 40)])
    assert (clean.conflicts, clean.problem) == ((), "")
    assert unknown.problem
    assert not unknown.tree


def test_merges_are_the_same_by_one_process_and_by_many(
    login: Here, review: Here, tmp_path: Path
) -> None:
    from wc_cli.edits.radar.objects import Objects

    commits = []
    for number, repo in enumerate((login, review)):
        edit(repo, "auth.py", "b = 2", f"b = 2{number}")
        edit(repo, "notes.txt", f"{number * 15}\n", "x\n")
        (repo.path / "both.txt").write_text(f"{number}\n" * 3, encoding="utf-8")
        repo.git("add", ".")
        repo.git("commit", "-qm", "work")
        commits.append(repo.git("rev-parse", "HEAD").strip())
    git = Git(str(login.path), login.machine.env)
    objects = Objects(f"{login.path.parent}/app/.git", str(tmp_path), str(tmp_path))
    pair = (commits[0], commits[1])
    (batch,) = merges.merge_all(git, objects, [pair])
    # An unknown revision makes the one process fail.
    alone, _ = merges.merge_all(git, objects, [pair, (commits[0], "b" * 40)])
    assert batch == alone
    assert batch.conflicts == (("auth.py", "contents"), ("both.txt", "contents"))
    assert batch.merged == ("notes.txt",)
