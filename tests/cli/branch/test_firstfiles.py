"""What the first checkout of the store's branch writes, and what it does not, whatever
was pushed to the branch; and what git sees of it afterwards."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.conftest import THREADS, Done, Machine, Repo
from wc_cli.ledger.settle import settler

if TYPE_CHECKING:
    from pathlib import Path

TOPICS = ("auth", "billing")
APPROVED = b'{"approved": "touch"}\n'
CRLF = "* -text merge=union\n*.txt text eol=crlf\n*.id ident\n*.evil filter=evil\n"
SESSION = json.dumps({"session_id": "s", "source": "startup"}).encode()


def pushed(repo: Repo, files: dict[str, tuple[str, bytes]]) -> None:
    """Someone commits files to the branch, past wc: each with its mode; of a submodule,
    the content is its commit."""
    parts = [b"commit refs/heads/%b\n" % THREADS.encode()]
    parts.append(b"committer Pat <pat@example.org> 1767225600 +0000\ndata 2\nx\n")
    parts.append(b"from refs/heads/%b^0\n" % THREADS.encode())
    for path, (mode, data) in files.items():
        if mode == "160000":
            parts.append(b"M 160000 %b %b\n" % (data, path.encode()))
        else:
            parts.append(b"M %b inline %b\n" % (mode.encode(), path.encode()))
            parts.append(b"data %d\n%b\n" % (len(data), data))
    words = ["git", "fast-import", "--quiet", "--done"]
    done = repo.machine.run(words, repo.path, feed=b"".join([*parts, b"done\n"]))
    assert not done.code, done


@pytest.fixture
def hub(repo: Repo) -> Repo:
    """A repository with threads, of which clones are made."""
    for topic in TOPICS:
        repo.settled("new", topic, "--title", f"{topic} begins")
    repo.git("worktree", "remove", "-f", "-f", str(repo.store))
    return repo


def clone(hub: Repo, name: str = "other", *words: str) -> Repo:
    machine = Machine(hub.machine.root / f"machine-{name}", "Kim")
    url = f"file://{hub.path}"
    machine.git("clone", "-q", *words, url, name, cwd=machine.root)
    return Repo(machine, machine.root / name)


def root_of(repo: Repo) -> Path:
    """The folder of the only store of a machine."""
    folder = repo.machine.home / ".watercooler/worktrees"
    (root,) = (path for path in folder.iterdir() if (path / ".git").exists())
    return root


def status(root: Path, repo: Repo) -> str:
    return repo.machine.git("status", "--porcelain", cwd=root)


def hostile(hub: Repo) -> dict[str, tuple[str, bytes]]:
    head = hub.git("rev-parse", "main").encode()
    outside = os.fsencode(hub.machine.root / "outside")
    return {
        ".local/approved-commands": ("100644", APPROVED),
        ".LOCAL/runs/bin/wc": ("100755", b"#!/bin/sh\n"),
        "link": ("120000", outside),
        "threads/linked.md": ("120000", outside),
        "sub": ("160000", head),
    }


FIRST = {
    "init": ("init",),
    "list": ("list",),
    "say": ("say", "auth", "--title", "x"),
    "brief": ("brief",),
    "hook": ("brief", "--hook", "session-start", "--client", "claude"),
}


@pytest.mark.parametrize("words", FIRST.values(), ids=FIRST)
def test_what_is_not_for_a_store_stays_on_the_branch(
    hub: Repo, words: tuple[str, ...]
) -> None:
    pushed(hub, hostile(hub))
    colleague = clone(hub)
    feed = SESSION if "--hook" in words else None
    done = colleague.ok(*words, feed=feed)
    root = root_of(colleague)
    assert not (root / ".local/approved-commands").exists()
    assert not (root / ".LOCAL").exists()
    for name in ("link", "sub", "threads/linked.md"):
        assert not os.path.lexists(root / name), name
    assert f"{THREADS} has 5 files that are not checked out" in done.err
    assert ".local/approved-commands" in done.err or ".LOCAL" in done.err
    assert "link is a symbolic link" in done.err
    assert "sub is a submodule" in done.err
    # Named once. For git, nothing is missing; and a writer does not remove it.
    assert "not checked out" not in colleague.ok("list").err
    colleague.settled("say", "auth", "--title", "one more")
    assert status(root, colleague) == ""
    colleague.machine.git("commit", "-q", "-a", "--allow-empty", "-m", "all", cwd=root)
    colleague.machine.git("reset", "-q", "--hard", cwd=root)
    colleague.settled("say", "auth", "--title", "another")
    assert not (root / ".local/approved-commands").exists()
    assert not os.path.lexists(root / "link")
    for path, (mode, data) in hostile(hub).items():
        line = colleague.git("ls-tree", "-r", THREADS, "--", path)
        assert line.startswith(mode), path
        if mode != "160000":
            blob = colleague.git("cat-file", "blob", f"{THREADS}:{path}")
            assert blob == data.decode().strip()


def test_doctor_names_it_and_its_command_removes_it(hub: Repo) -> None:
    files = {
        ".local/approved-commands": ("100644", APPROVED),
        "link": ("120000", b"/nowhere"),
        "sub": ("160000", hub.git("rev-parse", "main").encode()),
    }
    pushed(hub, files)
    colleague = clone(hub)
    colleague.ok("init")
    root = root_of(colleague)
    (root / ".local/approved-commands").write_text("mine\n")
    report = colleague.wc("doctor", "--json").json
    fixes = {item["file"]: item["fix"] for item in report["findings"]}
    assert files.keys() <= fixes.keys()
    for path in files:
        done = colleague.machine.run(["sh", "-c", fixes[path].partition(": ")[2]], root)
        assert not done.code, done
    colleague.settled("say", "auth", "--title", "x")
    listed = colleague.git("ls-tree", "-r", "--name-only", THREADS).split("\n")
    assert not files.keys() & {*listed}
    assert "auth" in colleague.ok("list").out
    assert (root / ".local/approved-commands").read_text() == "mine\n"
    assert not files.keys() & {
        item["file"] for item in colleague.wc("doctor", "--json").json["findings"]
    }


def test_what_comes_later_is_treated_the_same(hub: Repo) -> None:
    colleague = clone(hub)
    colleague.ok("init")
    root = root_of(colleague)
    pushed(hub, hostile(hub))
    colleague.ok("sync")
    assert not (root / ".local/approved-commands").exists()
    assert not os.path.lexists(root / "link")
    assert status(root, colleague) == ""
    assert ".local" in colleague.wc("doctor").out


def test_the_bytes_are_those_of_the_branch_and_no_filter_runs(hub: Repo) -> None:
    files = {
        ".gitattributes": ("100644", CRLF.encode()),
        "lines.txt": ("100644", b"a\nb\n"),
        "returns.txt": ("100644", b"a\r\nb\n"),
        "number.id": ("100644", b"$Id$\n"),
        "what.evil": ("100644", b"what\n"),
        "run.sh": ("100755", b"#!/bin/sh\n"),
        "a folder/\xfcber".encode().decode("latin-1"): ("100644", b"x"),
    }
    pushed(hub, files)
    colleague = clone(hub)
    ran = colleague.machine.root / "ran"
    for name in ("smudge", "clean", "process"):
        program = f"touch {shlex.quote(str(ran))}; cat"
        colleague.machine.git(
            "config", "--global", f"filter.evil.{name}", program, cwd="/"
        )
    colleague.machine.git("config", "--global", "core.autocrlf", "true", cwd="/")
    hook = colleague.path / ".git/hooks/post-checkout"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\ntouch {shlex.quote(str(ran))}\n")
    hook.chmod(0o755)
    colleague.ok("list")
    root = root_of(colleague)
    for path, (mode, data) in files.items():
        assert (root / path).read_bytes() == data, path
        assert bool((root / path).stat().st_mode & 0o100) is (mode == "100755"), path
    assert status(root, colleague) == ""
    colleague.settled("say", "auth", "--title", "x")
    assert not ran.exists()
    assert colleague.git("show", f"{THREADS}:lines.txt") == "a\nb"


def test_the_index_is_the_one_that_git_would_have_left(hub: Repo) -> None:
    colleague = clone(hub)
    colleague.ok("list")
    root = root_of(colleague)
    index = colleague.machine.git("ls-files", "--stage", cwd=root)
    colleague.machine.git("fsck", "--no-dangling", cwd=root)
    by_git = colleague.machine.root / "by-git"
    words = ("worktree", "add", "-q", "--detach", str(by_git), THREADS)
    colleague.git(*words)
    assert colleague.machine.git("ls-files", "--stage", cwd=by_git) == index
    # git believes what is in it, without a look into the files.
    debug = colleague.machine.git("ls-files", "--debug", cwd=root)
    assert "mtime: 0:0" not in debug
    assert colleague.machine.git("diff-files", "--name-only", cwd=root) == ""


def test_a_repository_of_sha256(machine: Machine) -> None:
    path = machine.root / "long"
    words = ("init", "-q", "--object-format=sha256", "-b", "main", str(path))
    machine.git(*words, cwd="/")
    repo = Repo(machine, path)
    repo.git("commit", "-q", "--allow-empty", "-m", "code")
    repo.settled("new", "auth", "--title", "x")
    repo.git("worktree", "remove", "-f", "-f", str(repo.store))
    repo.ok("init")
    assert status(root_of(repo), repo) == ""
    repo.settled("say", "auth", "--title", "y")
    assert status(root_of(repo), repo) == ""


@pytest.mark.parametrize("name", ["../up", "a/../../up", ".git/hooks/x", "GIT~1/x"])
def test_no_path_leads_out_of_the_folder(hub: Repo, name: str) -> None:
    # git makes no such tree; one object in another does.
    blob = hub.machine.run(
        ["git", "hash-object", "-w", "--stdin"], hub.path, feed=b"x\n"
    ).out.strip()
    kind, mode, inner = "blob", "100644", blob
    for part in reversed(name.split("/")):
        data = f"{mode} {part}\0".encode() + bytes.fromhex(inner)
        words = ["git", "hash-object", "-w", "--literally", "-t", "tree", "--stdin"]
        inner = hub.machine.run(words, hub.path, feed=data).out.strip()
        kind, mode = "tree", "40000"
    assert kind == "tree"
    base = subprocess.run(
        ["git", "cat-file", "tree", THREADS],
        cwd=hub.path, env=hub.machine.env, capture_output=True, check=True,
    ).stdout  # fmt: skip
    top = subprocess.run(
        ["git", "cat-file", "tree", inner],
        cwd=hub.path, env=hub.machine.env, capture_output=True, check=True,
    ).stdout  # fmt: skip
    words = ["git", "hash-object", "-w", "--literally", "-t", "tree", "--stdin"]
    tree = hub.machine.run(words, hub.path, feed=top + base).out.strip()
    commit = hub.git("commit-tree", "-p", THREADS, "-m", "x", tree)
    hub.git("update-ref", f"refs/heads/{THREADS}", commit)
    done = hub.ok("list")
    root = root_of(hub)
    assert "could lead out of the folder" in done.err
    assert not (root.parent / "up").exists()
    assert (root / ".git").is_file()
    # Nor with git, which believes its index.
    hub.machine.run(["git", "checkout-index", "-a", "-f"], root)
    assert not (root.parent / "up").exists()
    assert "could lead out of the folder" in hub.wc("doctor").out


def test_a_name_that_is_too_long_keeps_nobody_out(hub: Repo) -> None:
    pushed(hub, {"n" * 300: ("100644", b"x")})
    colleague = clone(hub)
    assert "cannot have its name here" in colleague.ok("list").err
    assert status(root_of(colleague), colleague) == ""


def test_a_shared_file_that_is_a_link_stays_one(hub: Repo) -> None:
    pushed(hub, {"config.toml": ("120000", b"/nowhere")})
    colleague = clone(hub)
    colleague.ok("list")
    colleague.settled("say", "auth", "--title", "x")
    assert colleague.git("ls-tree", THREADS, "--", "config.toml").startswith("120000")


def test_a_partial_clone_fetches_at_once(hub: Repo) -> None:
    hub.git("config", "uploadpack.allowFilter", "true")
    hub.git("config", "uploadpack.allowAnySHA1InWant", "true")
    partial = clone(hub, "partial", "--filter=blob:none")
    programs = partial.machine.home / "programs"
    programs.mkdir()
    log = partial.machine.home / "fetches"
    real = shutil.which("git-upload-pack", path=partial.machine.env["PATH"])
    upload = programs / "upload-pack"
    upload.write_text(f'#!/bin/sh\necho x >> "{log}"\nexec {real} "$@"\n')
    upload.chmod(0o755)
    partial.git("config", "remote.origin.uploadpack", str(upload))
    partial.ok("init", "--offline")
    assert log.read_text().count("x") == 1
    assert "billing" in partial.ok("list").out
    assert status(root_of(partial), partial) == ""


def test_a_folder_that_was_removed_is_made_again(hub: Repo) -> None:
    pushed(hub, hostile(hub))
    hub.ok("init")
    root = root_of(hub)
    shutil.rmtree(root)
    assert "not checked out" in hub.ok("init").err
    assert not (root / ".local/approved-commands").exists()
    assert not os.path.lexists(root / "link")
    assert "billing" in hub.ok("list").out


def test_a_named_folder_that_was_removed_is_made_again(hub: Repo) -> None:
    pushed(hub, hostile(hub))
    root = hub.machine.root / "named"
    hub.git("worktree", "add", "-q", "--no-checkout", str(root), THREADS)
    shutil.rmtree(root)
    hub.ok("init", env={"WATERCOOLER_DIR": str(root)})
    assert not (root / ".local/approved-commands").exists()
    assert not os.path.lexists(root / "link")
    assert "billing" in hub.ok("list", env={"WATERCOOLER_DIR": str(root)}).out


# --- killed, and several at once ----------------------------------------------

GIT = """#!/bin/sh
case "$*" in *"$KILL_AT"*) kill -9 $PPID; exit 1 ;; esac
exec {git} "$@"
"""


def killed(repo: Repo, word: str, *words: str, **env: str) -> Done:
    """Run wc, which is killed when it runs git with that word."""
    programs = repo.machine.home / "programs"
    programs.mkdir(exist_ok=True)
    real = shutil.which("git", path=repo.machine.env["PATH"])
    (programs / "git").write_text(GIT.format(git=real), encoding="utf-8")
    (programs / "git").chmod(0o755)
    path = f"{programs}:{repo.machine.env['PATH']}"
    all_words = (*repo.machine.wc_words, *words)
    env = {"PATH": path, "KILL_AT": word, "WATERCOOLER_SYNC": "off", **env}
    done = repo.machine.run(all_words, repo.path, env=env)
    assert done.code < 0, done
    return done


@pytest.mark.parametrize(
    "word", ["worktree add", "ls-tree -z -r", "--batch-check", "--batch"]
)
def test_a_kill_is_not_a_deletion_of_everything(hub: Repo, word: str) -> None:
    colleague = clone(hub)
    killed(colleague, word, "init")
    tip = colleague.git("rev-parse", f"refs/heads/{THREADS}")
    if word != "worktree add":
        # Whoever comes upon the folder in another way commits nothing.
        root = root_of(colleague)
        (root / ".local/unsettled").mkdir(parents=True)
        (root / ".local/unsettled/auth").touch()
        settler.settle(str(root), colleague.machine.env)
        assert colleague.git("rev-parse", THREADS) == tip
    assert sorted(thread["topic"] for thread in colleague.json("list")["threads"]) == [
        *TOPICS
    ]
    colleague.settled("say", "auth", "--title", "x")
    changed = colleague.git("diff", "--name-status", tip, THREADS).split("\n")
    assert not [line for line in changed if line.startswith("D")]
    root = next(
        path
        for path in (colleague.machine.home / ".watercooler/worktrees").iterdir()
        if path.is_dir() and ".unfinished-" not in path.name
    )
    assert status(root, colleague) == ""


def test_a_named_folder_that_a_kill_left_is_made_again(hub: Repo) -> None:
    root = hub.machine.root / "named"
    hub.git("worktree", "add", "-q", "--no-checkout", str(root), THREADS)
    shutil.rmtree(root)
    named = {"WATERCOOLER_DIR": str(root)}
    killed(hub, "--batch-check", "init", **named)
    tip = hub.git("rev-parse", THREADS)
    outside = hub.machine.folder("outside")
    assert "wc init" in outside.fails(6, "say", "auth", "--title", "x", env=named)
    hub.settled("say", "auth", "--title", "x", env=named)
    assert "billing" in hub.ok("list", env=named).out
    changed = hub.git("diff", "--name-status", tip, THREADS).split("\n")
    assert not [line for line in changed if line.startswith("D")]


def test_several_first_commands_at_once(hub: Repo) -> None:
    for number in range(20):
        hub.ok("new", f"more-{number}", "--title", "x")
    hub.settled("say", "auth", "--title", "x")
    hub.git("worktree", "remove", "-f", "-f", str(hub.store))
    colleague = clone(hub)
    machine = colleague.machine
    running = [
        subprocess.Popen(
            [*machine.wc_words, "list", "--json", "--limit", "100"],
            cwd=colleague.path, env=machine.env, stdout=-1, stderr=-1, text=True,
        )
        for _ in range(4)
    ]  # fmt: skip
    answers = [process.communicate(timeout=60) for process in running]
    for out, err in answers:
        assert len(json.loads(out)["threads"]) == 22, err
    assert status(root_of(colleague), colleague) == ""
    assert colleague.git("rev-parse", THREADS) == hub.git("rev-parse", THREADS)
