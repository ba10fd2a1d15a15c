"""Which store, and who: in every kind of place someone may stand in."""

from __future__ import annotations

import json
import os
import pwd
import shlex
import shutil
from typing import TYPE_CHECKING

import pytest

from tests.conftest import THREADS, Machine, Repo

if TYPE_CHECKING:
    from pathlib import Path


def topics(repo: Repo, cwd: str = "", **how: object) -> list[str]:
    found = repo.json("list", cwd=cwd, **how)["threads"]
    return sorted(one["topic"] for one in found)


def hint(said: str) -> str:
    """The command that an error's last line ends with."""
    return said.rstrip("\n").rpartition(": ")[2]


def obey(repo: Repo, command: str) -> None:
    """Do what an error says: words for the shell, or for wc itself."""
    for one in command.split(" && "):
        if one.startswith("wc "):
            repo.ok(*shlex.split(one)[1:])
        else:
            done = repo.machine.run(["sh", "-c", one], repo.path)
            assert not done.code, (one, done)


# --- the branch's store -------------------------------------------------------


def test_init_makes_a_store_and_says_where(repo: Repo) -> None:
    done = repo.ok("init")
    folder = f"~/.watercooler/worktrees/{repo.store.name}"
    assert done.out == f"The store is ready: {folder} (0 threads)\n"
    assert repo.store.name.startswith("watercooler-app-")
    again = repo.ok("init").out
    assert again == f"The store was already there: {folder} (0 threads)\n"
    assert repo.json("init") == {"store": folder, "kind": "branch", "threads": 0}
    assert (repo.store / ".gitattributes").read_text() == "* -text merge=union\n"
    assert (repo.store / ".gitignore").read_text() == ".local/\n"


def test_a_first_write_makes_a_store_that_is_one_from_everywhere(repo: Repo) -> None:
    repo.ok("say", "auth", "--title", "x")
    # An orphan: the history of the code stays clean.
    assert repo.machine.run(["git", "merge-base", THREADS, "main"], repo.path).code
    fix = repo.worktree("app-wt-fix", "fix/it")
    (fix.path / "a/b").mkdir(parents=True)
    link = repo.machine.root / "link"
    link.symlink_to(repo.path)
    inside = Repo(repo.machine, repo.store)
    for place, cwd in (
        *((repo, ""), (repo, ".git"), (fix, ""), (fix, "a/b")),
        *((Repo(repo.machine, link), ""), (inside, "")),
        (inside, "graph/baseline/threads/auth"),
    ):
        assert topics(place, cwd) == ["auth"]
    # git knows where the store is, whoever asks.
    other_home = repo.machine.root / "other home"
    other_home.mkdir()
    assert topics(repo, env={"HOME": str(other_home), "USER": "pat"}) == ["auth"]
    fix.ok("say", "billing", "--title", "y", cwd="a/b")
    assert topics(repo) == ["auth", "billing"]
    assert repo.store == fix.store
    (entry,) = fix.entries("billing")
    assert entry["code_branch"] == "fix/it"
    inside.settled("ack", "auth")
    # The store's own branch is not where the code is.
    assert inside.entries("auth")[1]["code_branch"] == ""


def test_the_store_is_locked_against_prune(repo: Repo) -> None:
    repo.ok("say", "auth", "--title", "x")
    (admin,) = (repo.path / ".git/worktrees").iterdir()
    assert (admin / "locked").exists()
    repo.store.rename(repo.machine.root / "away")
    repo.git("worktree", "prune", "--expire", "now")
    assert admin.exists()


def test_the_first_write_may_come_from_a_linked_worktree(repo: Repo) -> None:
    fix = repo.worktree("fix")
    fix.ok("say", "auth", "--title", "x")
    assert topics(repo) == ["auth"]
    repo.git("worktree", "remove", str(fix.path))
    assert topics(repo) == ["auth"]
    repo.settled("ack", "auth")


def test_a_repository_without_commits(machine: Machine) -> None:
    repo = machine.repo(commit=False)
    repo.settled("say", "auth", "--title", "x")
    assert topics(repo) == ["auth"]
    assert "code_commit" not in repo.entries("auth")[0]


def test_a_detached_head(repo: Repo) -> None:
    repo.git("checkout", "-q", "--detach")
    repo.ok("say", "auth", "--title", "x")
    assert repo.entries("auth")[0]["code_branch"] == ""


def test_a_bare_repository(machine: Machine) -> None:
    path = machine.root / "app.git"
    machine.git("init", "-q", "--bare", str(path), cwd=machine.root)
    repo = Repo(machine, path)
    repo.settled("say", "auth", "--title", "x")
    assert topics(repo) == ["auth"]
    assert repo.store.name.startswith("watercooler-app-")
    assert repo.git("log", "--format=%s", "-1", THREADS) == "Pat: x (auth)"


def test_same_named_repositories_have_stores_of_their_own(machine: Machine) -> None:
    one, two = machine.repo("work/app"), machine.repo("home/app")
    one.ok("say", "auth", "--title", "x")
    two.ok("say", "billing", "--title", "x")
    assert (topics(one), topics(two)) == (["auth"], ["billing"])
    assert one.store != two.store
    assert one.store.parent == two.store.parent


@pytest.mark.parametrize(
    "name", ["with space", "uml\u00e4ut", "-dash", "a'quote", "a$b;c", "new\nline"]
)
def test_odd_names_of_repositories(machine: Machine, name: str) -> None:
    repo = machine.repo(f"in/{name}")
    repo.settled("say", "auth", "--title", "x")
    assert topics(repo) == ["auth"]
    assert repo.git("log", "--format=%s", "-1", THREADS) == "Pat: x (auth)"


def test_a_name_that_is_not_text(machine: Machine) -> None:
    repo = machine.repo("caf\udce9")
    for locale in ("C.UTF-8", "POSIX", "en_US.ISO-8859-1"):
        env = {"LC_ALL": locale}
        for words in (["init"], ["whoami"], ["say", "auth", "--title", "é"]):
            repo.ok(*words, env=env)
        repo.ok("list", env=env)
        assert repo.json("whoami", env=env)["kind"] == "branch"


def test_a_hook_s_environment_does_not_mislead(repo: Repo) -> None:
    other = repo.machine.repo("other")
    env = {
        "GIT_DIR": str(other.path / ".git"),
        "GIT_INDEX_FILE": str(other.path / ".git/index"),
        "GIT_WORK_TREE": str(other.path),
    }
    repo.settled("say", "auth", "--title", "x", env=env)
    assert topics(repo) == ["auth"]
    assert not other.git("branch", "--list", THREADS)


# --- a branch that is there already -------------------------------------------


def clone(repo: Repo, name: str) -> Repo:
    machine = Machine(repo.machine.root / f"machine-{name}", "Kim")
    machine.git("clone", "-q", str(repo.path), name, cwd=machine.root)
    return Repo(machine, machine.root / name)


def without_store(repo: Repo, state: str) -> Repo:
    """A repository that has threads on its branch alone, in each way there is."""
    if state == "local":
        repo.git("worktree", "remove", "-f", "-f", str(repo.store))
        return repo
    other = clone(repo, "other")
    if state == "packed":
        other.git("pack-refs", "--all", "--prune")
    if state == "loose":
        other.git("update-ref", "-d", f"refs/remotes/origin/{THREADS}")
        other.git("fetch", "-q")
    # Nothing may wait for the network.
    repo.path.rename(repo.path.with_name("unreachable"))
    return other


STATES = ("loose", "packed", "local")
READING = (
    ("list",),
    ("read", "auth"),
    ("search", "begins"),
    ("brief",),
    ("read", "auth", "--commits"),
    ("stats",),
    ("board", "--once"),
    ("updates",),
)


# The way a command adopts a store does not depend on the command: the short form has
# each command, and each way for the first one.
ADOPTING = [
    pytest.param(
        words,
        state,
        id=f"{' '.join(words)}-{state}",
        marks=[pytest.mark.long] * (words != READING[0] and state != STATES[0]),
    )
    for words in READING
    for state in STATES
]


@pytest.mark.parametrize(("words", "state"), ADOPTING)
def test_reading_adopts_what_is_fetched(
    repo: Repo, words: tuple[str, ...], state: str
) -> None:
    repo.settled("new", "auth", "--title", "auth begins", "--to", "anyone")
    tip = repo.git("rev-parse", THREADS)
    other = without_store(repo, state)
    done = other.ok(*words)
    assert "auth" in done.out
    assert "wc init" not in done.err
    assert other.git("rev-parse", THREADS) == tip
    assert other.store.is_dir()
    # The prompt knows at once, without a write.
    assert "auth" in other.ok("statusline").out


def test_whoami_and_wait_adopt_too(repo: Repo) -> None:
    repo.settled("new", "auth", "--title", "x", "--to", "Kim", "--force")
    other = without_store(repo, "packed")
    assert "not" not in other.ok("whoami").out
    assert topics(other) == ["auth"]
    other.git("worktree", "remove", "-f", "-f", str(other.store))
    assert "auth" in other.ok("wait", "auth", "--timeout", "1").out


@pytest.mark.parametrize("state", STATES)
def test_what_must_not_change_anything_says_how(repo: Repo, state: str) -> None:
    repo.settled("new", "auth", "--title", "x")
    other = without_store(repo, state)
    said = other.wc("doctor")
    assert said.code == 9
    assert THREADS in said.out
    assert "wc init" in said.out
    line = "wc: threads not checked out, run wc init\n"
    assert other.ok("statusline").out == line
    assert other.ok("statusline", env={"COLUMNS": "9"}).out == "wc: thre…\n"
    assert other.git("worktree", "list").count("\n") == 0
    assert other.ok("init").out.endswith("(1 thread)\n")
    other.ok("doctor")


def test_a_session_s_start_adopts(repo: Repo) -> None:
    repo.settled("new", "auth", "--title", "x", "--to", "anyone")
    other = without_store(repo, "packed")
    feed = json.dumps({"session_id": "s", "cwd": str(other.path)}).encode()
    words = ("brief", "--client", "claude", "--hook")
    assert other.ok(*words, "user-prompt", feed=feed).out == ""
    assert other.git("worktree", "list").count("\n") == 0
    # It is done once, and may take longer than a hook usually may.
    slow = other.machine.root / "bin/git"
    slow.parent.mkdir()
    slow.write_text(f'#!/bin/sh\nsleep 0.5\nexec {shutil.which("git")} "$@"\n')
    slow.chmod(0o755)
    env = {
        "PATH": f"{slow.parent}:{os.environ['PATH']}",
    }
    assert "auth" in other.ok(*words, "session-start", feed=feed, env=env).out
    assert other.git("worktree", "list").count("\n") == 1


def test_where_it_cannot_be_adopted_it_is_reported(repo: Repo) -> None:
    repo.settled("new", "auth", "--title", "x")
    other = without_store(repo, "packed")
    (other.machine.home / ".watercooler").write_text("in the way")
    said = other.fails(3, "list")
    assert THREADS in said
    assert said.count("could not be checked out: ") == 1
    assert said.endswith("wc init\n")
    who = other.ok("whoami").out
    assert who.startswith("Kim (by git user)\n")
    assert "not checked out: wc init" in who


def test_without_sync_reading_a_partial_clone_fetches_nothing(repo: Repo) -> None:
    repo.settled("new", "auth", "--title", "x")
    repo.git("config", "uploadpack.allowFilter", "true")
    path, url = repo.machine.root / "partial", f"file://{repo.path}"
    repo.machine.git("clone", "-q", "--filter=blob:none", url, str(path), cwd="/")
    partial = Repo(repo.machine, path)
    assert "wc init" in partial.fails(3, "list")
    assert "not checked out" in partial.ok("whoami").out
    partial.ok("init")
    assert topics(partial) == ["auth"]


@pytest.mark.parametrize(
    ("words", "kept"),
    [
        (("list",), "blob:none"),
        (("list",), "tree:0"),
        (("brief",), "blob:none"),
        (("search", "Login"), "blob:none"),
        (("whose", "auth"), "blob:none"),
    ],
)
def test_the_first_read_of_a_partial_clone_fetches_the_threads(
    repo: Repo, kept: str, words: tuple[str, ...]
) -> None:
    repo.settled("new", "auth", "-m", "Login")
    repo.git("config", "uploadpack.allowFilter", "true")
    path, url = repo.machine.root / "partial", f"file://{repo.path}"
    repo.machine.git("clone", "-q", f"--filter={kept}", url, str(path), cwd="/")
    partial = Repo(repo.machine, path)
    repo.path.rename(repo.path.parent / "away")
    on = {"WATERCOOLER_SYNC": "background"}
    for _ in range(2):
        assert "wc init" in partial.fails(3, *words, env=on)
    (repo.path.parent / "away").rename(repo.path)
    # It waits for a remote that failed only once; `wc init` tries again.
    assert "wc init" in partial.fails(3, *words, env=on)
    (path / ".git/wc-unasked").unlink()
    assert "auth" in partial.ok(*words, env=on).out
    assert not (path / ".git/wc-unasked").exists()


def test_a_clone_without_threads_is_left_alone(repo: Repo) -> None:
    other = clone(repo, "other")
    for words in (["list"], ["brief"], ["whoami"], ["stats"], ["doctor"]):
        other.ok(*words)
    assert other.git("branch", "--all", "--list", f"*{THREADS}") == ""
    assert not (other.machine.home / ".watercooler").exists()
    assert other.ok("statusline").out == ""


def test_a_first_write_adopts_a_fetched_branch(repo: Repo) -> None:
    repo.settled("say", "auth", "--title", "x")
    other = clone(repo, "other")
    other.settled("ack", "auth")
    assert [one["agent"] for one in other.entries("auth")] == ["Pat", "Kim"]
    log = other.git("rev-list", THREADS).split()
    assert repo.git("rev-parse", THREADS) in log


def test_a_checkout_of_another_tool_s_is_adopted(repo: Repo) -> None:
    repo.settled("say", "auth", "--title", "x")
    repo.git("worktree", "remove", "-f", "-f", str(repo.store))
    elsewhere = repo.machine.root / "elsewhere"
    repo.git("worktree", "add", "-q", str(elsewhere), THREADS)
    assert topics(repo) == ["auth"]
    assert repo.store == elsewhere
    repo.settled("ack", "auth")
    assert Repo(repo.machine, elsewhere).git("status", "--porcelain") == ""


# --- what may happen to it ----------------------------------------------------


def test_a_moved_repository(repo: Repo) -> None:
    repo.settled("say", "auth", "--title", "x")
    store = repo.store
    moved = Repo(repo.machine, repo.path.rename(repo.machine.root / "it moved"))
    said = moved.fails(6, "list")
    assert "was moved" in said
    assert str(store) in said
    moved.fails(6, "say", "auth", "--title", "y")
    obey(moved, hint(said))
    assert topics(moved) == ["auth"]
    moved.settled("say", "auth", "--title", "y")


def test_a_moved_repository_with_linked_worktrees(repo: Repo) -> None:
    repo.ok("say", "auth", "--title", "x")
    fix = repo.worktree("fix")
    repo.path.rename(repo.machine.root / "moved")
    said = fix.fails(6, "list")
    assert "is not there" in said
    assert "git worktree repair" in said


def test_a_copied_repository(repo: Repo) -> None:
    repo.settled("say", "auth", "--title", "x")
    shutil.copytree(repo.path, repo.machine.root / "copy", symlinks=True)
    copy = Repo(repo.machine, repo.machine.root / "copy")
    said = copy.fails(6, "list")
    assert "belongs to another repository" in said
    assert "copy" in said
    copy.fails(6, "say", "auth", "--title", "y")
    obey(copy, hint(said))
    copy.settled("say", "billing", "--title", "z")
    assert (topics(copy), topics(repo)) == (["auth", "billing"], ["auth"])
    assert copy.store != repo.store


def test_a_store_s_folder_that_is_gone(repo: Repo) -> None:
    repo.settled("say", "auth", "--title", "x")
    store = repo.store
    shutil.rmtree(store)
    for words in (["list"], ["say", "auth", "--title", "y"], ["whoami"]):
        said = repo.fails(6, *words)
        assert str(store) in said
        assert "missing" in said
        assert said.endswith("wc init\n")
    assert repo.ok("statusline").out == "wc: store missing, run wc doctor\n"
    assert repo.ok("init").out.startswith("The store is ready: ")
    assert (topics(repo), repo.store) == (["auth"], store)
    repo.settled("say", "auth", "--title", "y")


def test_home_unset(repo: Repo) -> None:
    said = repo.fails(2, "say", "auth", "--title", "x", without=["HOME"])
    assert "HOME is not set" in said
    assert "WATERCOOLER_DIR" in said
    repo.ok("init")
    repo.ok("say", "auth", "--title", "x", "--as", "Codex", without=["HOME"])
    assert topics(repo) == ["auth"]
    env = {"WATERCOOLER_DIR": str(repo.machine.root / "store")}
    repo.ok("say", "auth", "--title", "x", "--as", "Cx", env=env, without=["HOME"])


def test_a_folder_that_is_gone(repo: Repo) -> None:
    words = " ".join(f"'{one}'" for one in repo.machine.wc_words)
    command = f"mkdir gone && cd gone && rmdir ../gone && {words} list"
    done = repo.machine.run(["sh", "-c", command], repo.path)
    assert done.code == 3
    assert "no longer exists" in done.err


# --- in the code's own tree ---------------------------------------------------


def test_an_in_tree_store_comes_first(repo: Repo) -> None:
    repo.ok("say", "elsewhere", "--title", "x")
    (repo.path / ".watercooler/threads").mkdir(parents=True)
    (repo.path / "a/b").mkdir(parents=True)
    assert topics(repo, "a/b") == []
    said = repo.settled("say", "auth", "--title", "x", "--json", cwd="a/b").json
    assert (said["committed"], said["pushed"]) == (False, None)
    assert topics(repo) == ["auth"]
    assert repo.json("whoami")["kind"] == "in-tree"
    # It is committed by the person, with the code, and nothing local is.
    assert repo.git("log", "--oneline", "main").count("\n") == 0
    repo.git("add", "-A")
    staged = repo.git("diff", "--cached", "--name-only").splitlines()
    assert staged == [
        ".watercooler/.gitignore",
        ".watercooler/graph/baseline/threads/auth/edges.jsonl",
        ".watercooler/graph/baseline/threads/auth/entries.jsonl",
        ".watercooler/graph/baseline/threads/auth/meta.json",
        ".watercooler/threads/auth.md",
    ]


def test_an_in_tree_store_is_looked_for_up_to_the_git_root(machine: Machine) -> None:
    (machine.root / ".watercooler/threads").mkdir(parents=True)
    repo = machine.repo()
    assert repo.json("whoami")["kind"] == "branch"
    outside = Repo(machine, machine.root)
    assert outside.json("whoami")["store"] == str(machine.root / ".watercooler")


def test_a_folder_that_is_not_a_store_is_none(repo: Repo) -> None:
    (repo.path / ".watercooler").mkdir()
    assert repo.json("whoami")["kind"] == "branch"


# --- outside of git -----------------------------------------------------------


def test_outside_git_the_store_is_here(machine: Machine) -> None:
    place = machine.folder("notes")
    place.settled("say", "auth", "--title", "x")
    assert (place.path / ".watercooler/threads/auth.md").is_file()
    (place.path / "a/b").mkdir(parents=True)
    assert topics(place, "a/b") == ["auth"]
    assert place.json("whoami")["kind"] == "plain"
    assert place.ok("init").out.startswith("The store was already there")


def test_the_home_folder_itself_has_no_store(machine: Machine) -> None:
    home = Repo(machine, machine.home)
    (machine.home / ".watercooler/threads").mkdir(parents=True)
    said = home.fails(2, "say", "auth", "--title", "x")
    assert "home folder" in said
    below = machine.folder("home/below")
    below.ok("say", "auth", "--title", "x")
    assert (below.path / ".watercooler").is_dir()


def test_a_store_that_is_named(repo: Repo) -> None:
    env = {"WATERCOOLER_DIR": "../shared store"}
    repo.settled("say", "auth", "--title", "x", env=env)
    assert (repo.machine.root / "shared store/threads/auth.md").is_file()
    assert topics(repo, env=env) == ["auth"]
    assert topics(repo) == []
    who = repo.json("whoami", env=env)
    assert (who["kind"], who["store"]) == (
        "named",
        str(repo.machine.root / "shared store"),
    )


OLD_PAGE = """\
# auth — Thread
Status: open
Ball: codex
Topic: auth

---
Entry: Codex 2025-10-07T00:27:54Z
Type: Note
Title: Hi

Body
"""


@pytest.mark.parametrize("kind", ["named", "in-tree", "plain"])
def test_pages_directly_in_the_folder_are_continued_there(
    repo: Repo, machine: Machine, kind: str
) -> None:
    place = machine.folder("notes") if kind == "plain" else repo
    folder = place.path / (".watercooler" if kind != "named" else "old ones")
    folder.mkdir()
    env = {"WATERCOOLER_DIR": str(folder)} if kind == "named" else {}
    (folder / "README.md").write_text("# About\n")
    assert topics(place, env=env) == []
    (folder / "auth.md").write_text(OLD_PAGE)
    others = {"guidance": "Be kind.\n", "plan": "# Plan\n\nBuild it.\n"}
    for name, text in others.items():
        (folder / f"{name}.md").write_text(text)
    assert topics(place, env=env) == ["auth"]
    assert "Body" in place.ok("read", "auth", env=env).out
    place.settled("say", "auth", "-m", "More", env=env)
    for name in others:
        place.settled("new", name, "-m", "New", env=env)
    assert place.json("whoami", env=env)["kind"] == kind
    assert topics(place, env=env) == ["auth", *others]
    entries = place.json("read", "auth", env=env)["entries"]
    assert [entry["title"] for entry in entries] == ["Hi", "More"]
    assert "Title: More" in (folder / "auth.md").read_text()
    for name, text in others.items():
        assert (folder / f"{name}.md").read_text() == text
    assert (folder / "README.md").read_text() == "# About\n"
    assert not (folder / "threads").exists()
    place.ok("doctor", env=env)


def test_pages_in_the_code_do_not_hide_the_branch(repo: Repo) -> None:
    repo.settled("new", "login", "-m", "Login")
    (repo.path / ".watercooler").mkdir()
    (repo.path / ".watercooler/auth.md").write_text(OLD_PAGE)
    assert topics(repo) == ["login"]
    other = clone(repo, "other")
    (other.path / ".watercooler").mkdir()
    (other.path / ".watercooler/auth.md").write_text(OLD_PAGE)
    assert topics(other) == ["login"]
    note = next(
        line for line in repo.ok("doctor").out.splitlines() if "does not have" in line
    )
    obey(repo, hint(note))
    assert topics(repo) == ["auth", "login"]
    assert "does not have" not in repo.ok("doctor").out


def test_pages_of_an_older_tool_s_branch_stay_where_they_are(repo: Repo) -> None:
    """Those of two clones that both write into the same thread, too."""
    repo.git("checkout", "-q", "--orphan", THREADS)
    pages = repo.path / "watercooler/threads"
    pages.mkdir(parents=True)
    for name in ("auth", "docs"):
        (pages / f"{name}.md").write_text(OLD_PAGE.replace("auth", name))
    repo.git("add", ".")
    repo.git("commit", "-qm", "old")
    repo.git("checkout", "-q", "main")
    clones = [clone(repo, "one"), clone(repo, "two")]
    for other in clones:
        assert topics(other) == ["auth", "docs"]
        other.settled("say", "auth", "-m", f"From {other.path.name}")
        other.settled("new", other.path.name, "-m", "New")
    for other in (*clones, clones[0]):
        other.ok("sync")
    for other in clones:
        tracked = other.machine.git(
            "ls-tree", "-r", "--name-only", THREADS, cwd=other.path
        )
        assert [line for line in tracked.split() if line.endswith(".md")] == [
            f"watercooler/threads/{name}.md" for name in ("auth", "docs", "one", "two")
        ]
        titles = [entry["title"] for entry in other.json("read", "auth")["entries"]]
        assert titles == ["Hi", "From one", "From two"]
        page = (other.store / "watercooler/threads/auth.md").read_text()
        assert page.count("\nEntry: ") == len(titles)
        assert not (other.store / "threads").exists()
        other.ok("doctor")


def test_naming_the_branch_s_store_is_the_same_store(repo: Repo) -> None:
    repo.ok("init")
    env = {"WATERCOOLER_DIR": str(repo.store)}
    said = repo.settled("say", "auth", "--title", "x", "--json", env=env).json
    assert said["committed"]


# --- no way out of the store --------------------------------------------------


@pytest.mark.parametrize("where", ["graph/baseline/threads/out", "graph", "threads"])
def test_links_do_not_lead_out(machine: Machine, where: str) -> None:
    place = machine.folder("notes")
    place.settled("say", "auth", "--title", "x")
    store = place.path / ".watercooler"
    outside = machine.root / "outside"
    outside.mkdir()
    (outside / "entries.jsonl").write_text('{"entry_id": "secret"}\n')
    if (store / where).exists():
        (store / where).rename(machine.root / "was")
    (store / where).symlink_to(outside)
    for words in (
        ["list"],
        ["read", "out"],
        ["ack", "out"],
        ["say", "n", "--title", "x"],
    ):
        done = place.wc(*words)
        assert "secret" not in done.out + done.err
        assert "bug" not in done.err
    assert sorted(os.listdir(outside)) == ["entries.jsonl"]
    assert (outside / "entries.jsonl").read_text() == '{"entry_id": "secret"}\n'


# --- who ----------------------------------------------------------------------


def test_seats_of_linked_worktrees(repo: Repo) -> None:
    change = repo.worktree("app-wt-fix-7", "feature/x")
    branch = repo.worktree("other", "feature/y")
    for place, seat in ((change, "fix-7"), (branch, "feature/y"), (repo, None)):
        said = place.json("whoami", "--as", "Codex")
        assert said["seat"] == seat
        # A person is the same one everywhere.
        assert place.json("whoami")["name"] == "Pat"
    repo.ok("init")
    (repo.store / "config.toml").write_text('[identity]\nseats = "off"\n')
    assert change.json("whoami", "--as", "Codex")["seat"] is None


def test_the_os_user_is_better_than_nobody(tmp_path: Path) -> None:
    place = Machine(tmp_path, user="").folder("notes")
    for variable in ("USER", "LOGNAME"):
        assert place.json("whoami", env={variable: "kim"})["name"] == "kim"
    # A container's environment may say nothing; the system still knows.
    assert place.json("whoami")["name"] == pwd.getpwuid(os.getuid()).pw_name


def test_a_named_checkout_that_is_gone_is_not_silently_recreated(repo: Repo) -> None:
    repo.settled("new", "auth", "--title", "x")
    store = repo.store
    named = {"WATERCOOLER_DIR": str(store)}
    shutil.rmtree(store)
    for words in (["list"], ["say", "auth", "--title", "y"]):
        assert "wc init" in repo.fails(6, *words, env=named)
    assert not store.exists()
    repo.ok("init", env=named)
    assert topics(repo, env=named) == ["auth"]


# --- what was a worktree ------------------------------------------------------


def test_nothing_is_written_into_a_worktree_without_its_git(repo: Repo) -> None:
    repo.ok("new", "login", "-m", "L")
    lost = repo.worktree("lost")
    (lost.path / "src").mkdir()
    (lost.path / ".git").unlink()
    for cwd in (str(lost.path), str(lost.path / "src")):
        for words in (
            ("say", "login", "-m", "Ready"),
            ("done", "login", "-m", "Ready"),
            ("init",),
        ):
            said = lost.fails(6, *words, cwd=cwd)
            assert f"{lost.path} was a worktree of {repo.path}" in said
        assert "worktree repair" in lost.fails(6, "list", cwd=cwd)
    assert not list(lost.path.rglob(".watercooler"))
    assert len(repo.entries("login")) == 1
    obey(repo, f"git -C {repo.path} worktree repair")
    lost.ok("say", "login", "-m", "Ready", cwd=cwd)
    assert len(repo.entries("login")) == 2


def test_a_store_in_a_worktree_without_its_git_is_still_read(repo: Repo) -> None:
    repo.ok("new", "login", "-m", "L")
    lost = repo.worktree("lost")
    (lost.path / ".git").unlink()
    (lost.path / ".watercooler/threads").mkdir(parents=True)
    assert topics(lost) == []


def test_an_agent_creates_no_store_outside_git(machine: Machine) -> None:
    folder = machine.folder("notes")
    agent = {"CLAUDECODE": "1"}
    said = folder.fails(3, "say", "trip", "-m", "Where to?", env=agent)
    assert "no git repository here" in said
    assert "wc init" in said
    assert not (folder.path / ".watercooler").exists()
    folder.ok("init", env=agent)
    folder.ok("say", "trip", "-m", "Where to?", env=agent)


def test_a_receipt_names_the_store_that_was_passed_over(
    repo: Repo, machine: Machine
) -> None:
    elsewhere = {"WATERCOOLER_DIR": str(machine.root / "elsewhere")}
    done = repo.json("say", "login", "-m", "L", env=elsewhere)
    assert done["notes"] == []  # this repository has no threads of its own
    repo.ok("new", "login", "-m", "L")
    for _ in range(2):
        notes = repo.json("ack", "login", env=elsewhere)["notes"]
        assert any("not in the threads of app" in note for note in notes), notes
    own = {"WATERCOOLER_DIR": str(repo.store)}
    assert repo.json("ack", "login", env=own)["notes"] == []
