"""Two sides that are as different as sides can be, and come out the same; and
repositories that were copied, moved, cloned in part, lost and brought back."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path

import pytest

from tests import amounts
from tests.conftest import THREADS
from tests.contract.pairs import Clone, Pair
from wc_cli.ledger.merge.logs import merge_logs

LOG = "graph/baseline/threads/auth/entries.jsonl"
ENTRIES = amounts.rounds(150, 3000)
PAGE = """# old — Thread
Status: OPEN
Ball: Codex (pat)
Topic: old
Created: 2025-01-01T00:00:00Z

---
Entry: Codex (pat) 2025-01-01T00:00:00Z
Role: planner
Type: Plan
Title: From long ago

What we thought of then.

---
Entry: Claude (pat) 2025-01-02T00:00:00Z
Role: critic
Type: Note
Title: And a day later

What we thought of that.
"""


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Pair:
    return Pair.prepare(tmp_path_factory.mktemp("pairs") / "first")


@pytest.fixture
def pair(prepared: Pair, tmp_path: Path) -> Pair:
    return prepared.copy(tmp_path / "pair")


def exchanged(one: Clone, other: Clone) -> None:
    """Both exchange until both have everything, and all of it is well."""
    for clone in (one, other, one, other):
        clone.ok("sync")
    assert one.tip() == other.tip()
    one.check(other)
    other.check(one)


def with_page(clone: Clone) -> None:
    """Commit a thread as older tools did, without wc."""
    (clone.store / "threads/old.md").write_text(PAGE)
    clone.git("add", "threads/old.md")
    clone.git("commit", "-q", "-m", "an old page")


# --- two sides -------------------------------------------------------------------


def test_both_import_the_same_page(pair: Pair) -> None:
    a, b = pair.a, pair.b
    with_page(a)
    a.ok("sync")
    b.ok("sync")
    a.say("old", "Of a")
    b.say("old", "Of b")
    exchanged(a, b)
    for clone in (a, b):
        assert len(clone.ids("old")) == 4
        titles = [
            one["title"] for one in clone.ok("read", "old", "--json").json["entries"]
        ]
        assert titles == ["From long ago", "And a day later", "Of a", "Of b"]


def test_one_side_has_a_page_and_the_other_its_log(pair: Pair) -> None:
    """Each has the page from elsewhere; only the one has written since."""
    a, b = pair.a, pair.b
    with_page(a)
    with_page(b)
    a.say("old", "Of a")
    exchanged(a, b)
    assert len(b.ids("old")) == 3
    b.say("old", "Of b")
    exchanged(a, b)
    assert a.ids("old") == b.ids("old")


def test_histories_that_have_nothing_in_common(pair: Pair) -> None:
    """Each began the branch from nothing, with a tool of its own."""
    a, b = pair.a, pair.b
    tree = b.git("rev-parse", f"{THREADS}^{{tree}}")
    b.say("plan", "Of b")
    alone = b.git("commit-tree", "-m", "from nothing", tree)
    b.git("reset", "-q", "--soft", alone)
    a.say("auth", "Of a")
    a.ok("sync")
    assert b.tried("merge-base", THREADS, f"origin/{THREADS}").code == 1
    exchanged(a, b)
    assert len(a.git("rev-list", "--max-parents=0", THREADS).split()) == 2


def test_very_many_entries_at_once(pair: Pair) -> None:
    a, b = pair.a, pair.b
    threads = max(1, ENTRIES // 10)
    root = a.layout.threads
    seed = a.log("auth").splitlines(keepends=True)[0].decode()
    _, _, first = seed.partition('"entry_id":"')
    first = first[:26]
    for number in range(threads):
        topic = f"many-{number}"
        lines = []
        for turn in range(ENTRIES // threads):
            entry = f"{first[:18]}{number:04}{turn:04}"
            line = seed.replace(first, entry).replace('"auth"', f'"{topic}"')
            lines.append(line.encode())
            a.said.setdefault(topic, []).append(entry)
        os.makedirs(f"{root}/{topic}")
        Path(a.layout.log(topic)).write_bytes(merge_logs(topic, *lines))
        Path(a.layout.unsettled, topic).touch()
    began = time.monotonic()
    done = a.ok("sync", "--json").json
    sent = time.monotonic()
    assert sum(done["went"].values()) == len(a.said["many-0"]) * threads
    b.say("auth", "Of b")
    done = b.ok("sync", "--json").json
    came = time.monotonic()
    assert sum(done["came"].values()) == len(a.said["many-0"]) * threads
    print(f"{ENTRIES} entries: {sent - began:.1f} s to send, {came - sent:.1f} to get")
    exchanged(a, b)


SETTINGS = """
[core]
    autocrlf = true
    eol = crlf
    safecrlf = true
    hooksPath = {hooks}
    excludesFile = {home}/ignored
    attributesFile = {home}/attributes
[merge]
    conflictStyle = diff3
    renames = false
    ff = only
[pull]
    rebase = true
    ff = only
[rebase]
    autoStash = true
[branch]
    autoSetupRebase = always
    autoSetupMerge = always
[fetch]
    prune = true
    pruneTags = true
[remote]
    pushDefault = nowhere
[push]
    default = {push}
    gpgSign = true
    followTags = true
[transfer]
    fsckObjects = true
[receive]
    denyNonFastForwards = true
[commit]
    gpgSign = true
[tag]
    gpgSign = true
[gpg]
    program = false
[user]
    useConfigOnly = true
[diff]
    external = false
    noprefix = true
[status]
    showUntrackedFiles = no
"""


@pytest.mark.parametrize(
    ("where", "push"), [("of the user", "matching"), ("of the repository", "nothing")]
)
def test_settings_of_others(pair: Pair, where: str, push: str) -> None:
    hooks = pair.root / "hooks"
    hooks.mkdir()
    for name in ("pre-push", "post-checkout", "pre-commit", "post-merge"):
        (hooks / name).write_text("#!/bin/sh\nexit 1\n")
        (hooks / name).chmod(0o755)
    for clone in (pair.a, pair.b):
        (clone.home / "ignored").write_text("*.jsonl\n*.md\ngraph/\n")
        (clone.home / "attributes").write_text("* text eol=crlf\n*.jsonl binary\n")
        config = clone.path / ".git/config"
        if where == "of the user":
            config = clone.home / ".gitconfig"
        with config.open("a") as file:
            file.write(SETTINGS.format(hooks=hooks, home=clone.home, push=push))
        clone.say("auth", f"Of {clone.home.name}")
        clone.say(f"topic of {clone.home.name}".replace(" ", "-"), "New")
    exchanged(pair.a, pair.b)
    pair.a.git("-c", "core.hooksPath=/dev/null", "switch", "-q", "--detach")
    pair.a.git("-c", "core.hooksPath=/dev/null", "switch", "-q", THREADS)
    pair.a.commit("auth", "After a checkout under these settings")
    exchanged(pair.a, pair.b)


# --- copied, moved, lost ------------------------------------------------------------


def obey(clone: Clone, said: str) -> None:
    """Do what an error says at its end."""
    command = said.rstrip().rpartition(": ")[2]
    for one in command.split(" && "):
        if one.startswith("wc "):
            clone.ok(*one.split()[1:])
        else:
            env = {"PATH": os.environ["PATH"], "HOME": str(clone.home)}
            done = shutil.which("sh")
            assert done
            assert not os.spawnve(os.P_WAIT, done, ["sh", "-c", one], env), one


def test_a_copied_repository_is_another_one(pair: Pair) -> None:
    a = pair.a
    a.commit("auth", "Before")
    copy = Clone(pair.root, "a")
    copy.path = a.home / "copy"
    shutil.copytree(a.path, copy.path, symlinks=True)
    done = copy.wc("sync")
    assert done.code == 6
    assert "looks like a copy" in done.err
    assert done == copy.wc("say", "auth", "--title", "x")
    obey(copy, done.err)
    folders = list((a.home / ".watercooler/worktrees").glob("watercooler-*[!k]"))
    assert len(folders) == 2
    said = copy.ok("say", "auth", "--title", "Of the copy", "--json").json["entry_id"]
    copy.ok("sync")
    pair.b.ok("sync")
    assert said in pair.b.ids("auth")
    ours = [one for one in folders if said in (one / LOG).read_text()]
    assert len(ours) == 1


@pytest.mark.parametrize("what", ["code", "home"])
def test_a_repository_or_a_home_that_was_moved(pair: Pair, what: str) -> None:
    a = pair.a
    a.say("auth", "Unsettled")
    if what == "code":
        moved = a.home / "elsewhere"
        a.path.rename(moved)
        a.path = moved
    else:
        moved = pair.root / "elsewhere"
        a.home.rename(moved)
        said = a.said
        a = Clone(pair.root, "elsewhere")
        a.said = said
        (a.home / ".gitconfig").write_text((a.home / ".gitconfig").read_text())
    done = a.wc("sync")
    assert done.code == 6
    obey(a, done.err)
    a.ok("sync")
    a.check()
    pair.b.ok("sync")
    pair.b.check(a)


def test_a_second_home_is_a_second_seat(pair: Pair) -> None:
    """The branch is checked out once; whoever comes with another home uses
    that."""
    a = pair.a
    other = pair.root / "other"
    other.mkdir()
    shutil.copy(a.home / ".gitconfig", other)
    done = a.ok("say", "auth", "--title", "x", "--json", env={"HOME": str(other)})
    assert done.json["entry_id"] in a.ids("auth")
    assert not (other / ".watercooler/worktrees").exists()
    a.ok("sync", env={"HOME": str(other)})
    assert pair.remote_tip() == a.tip()


def test_a_folder_that_is_missing_for_a_while(pair: Pair) -> None:
    a = pair.a
    a.commit("auth", "Committed")
    root = a.store
    kept = a.home / "kept"
    shutil.copytree(root, kept, symlinks=True)
    a.commit("auth", "After the backup")
    a.commit("new", "A thread after the backup")
    shutil.rmtree(root)
    done = a.wc("sync")
    assert done.code == 6
    assert "is missing" in done.err
    shutil.copytree(kept, root, symlinks=True)
    assert a.settle().problems == {}
    a.check()
    a.ok("sync")
    # Made again, from nothing but the branch.
    shutil.rmtree(root)
    a.ok("init")
    a.say("auth", "In the new folder")
    exchanged(a, pair.b)
    # And a backup again, in the place of the new one.
    shutil.rmtree(kept)
    shutil.copytree(a.store, kept, symlinks=True)
    a.commit("auth", "After the second backup")
    root = a.store
    shutil.rmtree(root)
    shutil.copytree(kept, root, symlinks=True)
    a.say("plan", "In the old folder")
    exchanged(a, pair.b)


@pytest.mark.parametrize(
    "words",
    [
        ("--depth=1", "--single-branch", f"--branch={THREADS}"),
        ("--filter=blob:none",),
        ("--mirror",),
    ],
    ids=" ".join,
)
def test_clones_of_every_kind(pair: Pair, words: tuple[str, ...]) -> None:
    pair.a.git("--git-dir", str(pair.remote), "config", "uploadpack.allowFilter", "1")
    c = Clone(pair.root, "c")
    c.home.mkdir()
    shutil.copy(pair.a.home / ".gitconfig", c.home)
    url = f"file://{pair.remote}"
    c.git("clone", "-q", *words, url, str(c.path), cwd=c.home)
    if f"--branch={THREADS}" in words:
        c.git("switch", "-q", "--orphan", "main", cwd=c.path)
    c.ok("sync")
    c.check(pair.a)
    c.say("auth", "Of c")
    pair.a.say("auth", "Of a")
    pair.a.ok("sync")
    exchanged(c, pair.a)
    c.git("fsck", "--connectivity-only")


@pytest.mark.parametrize("place", ["worktree", "submodule", "bare"])
def test_places_to_run_from(pair: Pair, place: str) -> None:
    a = pair.a
    if place == "worktree":
        a.git("worktree", "add", "-q", "-b", "fix", "../fix", cwd=a.path)
        a.path = a.home / "fix"
        a.say("auth", "Of the worktree")
        a.ok("sync")
        a.check()
        pair.b.ok("sync")
        pair.b.check(a)
        return
    c = Clone(pair.root, "c")
    c.home.mkdir()
    shutil.copy(a.home / ".gitconfig", c.home)
    if place == "submodule":
        outer = c.home / "outer"
        c.git("init", "-q", str(outer), cwd=c.home)
        allow = ("-c", "protocol.file.allow=always")
        words = ("submodule", "--quiet", "add", str(pair.remote), "lib")
        c.git(*allow, *words, cwd=outer)
        c.path = outer / "lib"
    else:
        c.git("clone", "-q", "--bare", str(pair.remote), "app.git", cwd=c.home)
        c.git("worktree", "add", "-q", str(c.path), "main", cwd=c.home / "app.git")
    c.ok("sync")
    c.say("auth", "Of c")
    exchanged(c, a)


def test_the_other_object_format(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
    pair = Pair(tmp_path)
    config = "[user]\n\tname = x\n\temail = x@example.org\n[init]\n\ttemplateDir =\n"
    for clone in (pair.a, pair.b):
        (clone.home / ".gitconfig").write_text(config)
    words = ("init", "-q", "-b", "main", "--object-format=sha256")
    pair.a.git(*words, "--bare", str(pair.remote), cwd=tmp_path)
    for clone in (pair.a, pair.b):
        clone.git(*words, str(clone.path), cwd=clone.home)
        clone.git("remote", "add", "origin", str(pair.remote), cwd=clone.path)
        clone.say("auth", f"Of {clone.home.name}")
    pair.a.ok("sync")
    exchanged(pair.a, pair.b)
    assert len(pair.a.tip()) == 64
