"""Other people's git: their hooks, settings, locks, signatures, and what is theirs.

Whatever git is set up to do, a write succeeds, what is pending is said with its
reason, and nothing of the repository of the code is touched.
"""

from __future__ import annotations

import base64
import json
import os
import random
import shutil
import subprocess
from typing import TYPE_CHECKING, NamedTuple

import pytest

from tests import amounts
from tests.conftest import THREADS, Machine, Repo
from tests.contract.inprocess import wc
from tests.contract.judging import FULL, check_log, check_settled, race
from tests.observe.stores import Session
from wc_cli.ledger.branch import messages
from wc_core.ledger.git import repository

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

# Other tests have measured what these run, over and over.
pytestmark = pytest.mark.usefixtures("unmeasured")

ROUNDS = amounts.rounds(12, 200)
TOPICS = ("login", "search")


def in_store(repo: Repo, *words: str) -> str:
    return repo.machine.git(*words, cwd=repo.store)


def tracked(repo: Repo) -> dict[str, bytes]:
    """What the branch has, by path."""
    found = {}
    listed = repo.git("ls-tree", "-r", "-z", "--name-only", THREADS).split("\0")
    for path in filter(None, listed):
        done = subprocess.run(
            ["git", "cat-file", "blob", f"{THREADS}:{path}"],
            cwd=repo.path,
            env=repo.machine.env,
            capture_output=True,
            check=True,
        )
        found[path] = done.stdout
    return found


def check_branch(repo: Repo, *ids: str) -> None:
    """The branch has the bytes of the files, and names each entry once."""
    assert in_store(repo, "status", "--porcelain") == ""
    for path, data in tracked(repo).items():
        assert (repo.store / path).read_bytes() == data, path
    footers = f"--format=%(trailers:key={messages.ENTRY},valueonly)"
    named = repo.git("log", "--no-show-signature", footers, THREADS).split()
    assert sorted(named) == sorted(ids)


def post(repo: Repo, title: str = "Grüße") -> str:
    """The id of an entry that is committed at once."""
    env = {**repo.machine.env, "WATERCOOLER_SYNC": "inline"}
    said = wc(["say", "auth", "--title", title, "--json"], repo.path, env).json
    assert (said["notes"], said["committed"]) == ([], True)
    entry_id: str = said["entry_id"]
    return entry_id


def test_a_burst_of_several_processes_names_each_entry_once(repo: Repo) -> None:
    said = race(
        repo,
        "write",
        writers=8,
        turns=25 if FULL else 3,
        topics=TOPICS,
        mixed=False,
        options=("--lock-timeout", "60"),
        seed="burst",
        env={"WATERCOOLER_SYNC": "background"},
    )
    assert said["wrong"] == []
    for topic in TOPICS:
        check_log(repo, topic, [one for name, one in said["acked"] if name == topic])
    check_settled(repo, TOPICS)
    commits = int(repo.git("rev-list", "--count", THREADS)) - 1
    assert commits < len(said["acked"])


# --- hooks --------------------------------------------------------------------

HOOKS = (
    *("pre-commit", "commit-msg", "prepare-commit-msg", "post-commit"),
    *("reference-transaction", "pre-push", "post-checkout", "post-merge"),
    *("pre-auto-gc", "post-index-change", "update", "post-rewrite"),
)


@pytest.mark.parametrize("where", ["hooks", "repository", "user"])
def test_no_hook_runs(repo: Repo, where: str) -> None:
    ran = repo.machine.root / "ran"
    folder = repo.path / ".git/hooks" if where == "hooks" else repo.path / "shared"
    folder.mkdir(exist_ok=True)
    for name in HOOKS:
        hook = folder / name
        hook.write_text(f'#!/bin/sh\necho "$0" >>{ran}\nexit 1\n')
        hook.chmod(0o755)
    if where != "hooks":
        scope = "--global" if where == "user" else "--local"
        repo.git("config", scope, "core.hooksPath", str(folder))
    ids = [post(repo), post(repo)]
    repo.ok("read", "auth", "--commits")
    repo.ok("doctor", "--repair")
    assert not ran.exists()
    text = repo.git("log", "--format=%B", THREADS)
    assert [text.count(one) for one in ids] == [1, 1]
    # They are hooks: whoever uses git itself meets them.
    assert repo.machine.run(["git", "branch", "x"], repo.path).code
    assert ran.exists()


EVENTS = (
    *("post-checkout", "post-index-change", "pre-auto-gc", "pre-push"),
    "reference-transaction",
)


def git_version(repo: Repo) -> tuple[int, ...]:
    numbers = repo.git("version").split()[2].split(".")
    return tuple(int(one) for one in numbers[:2])


def test_every_git_is_told_that_hooks_are_off(repo: Repo, tmp_path: Path) -> None:
    """Older ones only understand the first of these, and ignore the others."""
    traces = tmp_path / "traces"
    traces.mkdir()
    env = {"GIT_TRACE2_EVENT": str(traces), "WATERCOOLER_SYNC": "inline"}
    repo.ok("say", "auth", "--title", "T", env=env)
    repo.ok("doctor", "--repair", env=env)
    started = []
    for trace in traces.iterdir():
        for line in trace.read_text().splitlines():
            fields = json.loads(line)
            # Not the processes that git itself starts: they inherit the options.
            if fields["event"] == "start" and "/" not in fields["sid"]:
                started.append(fields["argv"])
    assert any("worktree" in words for words in started)
    off = {f"hook.{name}.enabled=false" for name in EVENTS}
    for words in started:
        assert off | {"core.hooksPath=/dev/null"} <= {*words}, words


def test_no_hook_from_the_configuration_runs(repo: Repo) -> None:
    if git_version(repo) < (2, 55):
        pytest.skip("GIT IS TOO OLD: hooks from the configuration need git 2.55")
    ran = repo.machine.root / "ran"
    for name in HOOKS:
        repo.git("config", "--add", f"hook.my-{name}.event", name)
        repo.git("config", f"hook.my-{name}.command", f"echo {name} >>{ran}; false;")
    post(repo)
    repo.ok("read", "auth", "--commits")
    repo.ok("doctor", "--repair")
    assert not ran.exists()
    assert repo.machine.run(["git", "branch", "x"], repo.path).code
    assert ran.exists()


def test_a_checkout_is_complete_whatever_a_hook_exits_with(
    repo: Repo, tmp_path: Path
) -> None:
    """Git makes the worktree, and then exits with the status of the hook."""
    folder = tmp_path / "git"
    folder.mkdir()
    real = shutil.which("git", path=repo.machine.env["PATH"])
    begin = f'#!/bin/sh\n"{real}" "$@" || exit\ncase " $* " in\n'
    script = f'{begin}*" worktree add "*) exit 1 ;; esac\n'
    (folder / "git").write_text(script)
    (folder / "git").chmod(0o755)
    path = f"{folder}:{repo.machine.env['PATH']}"
    repo.ok("init", env={"PATH": path})
    assert (repo.store / ".gitattributes").exists()
    locked = "locked the store of wc"
    assert locked in repo.git("worktree", "list", "--porcelain")
    assert "Nothing is wrong." in repo.ok("doctor").out


def test_the_format_of_the_repository_stays(repo: Repo) -> None:
    """With relative worktrees in it, no git before 2.48 opens it."""
    if git_version(repo) < (2, 48):
        pytest.skip("GIT IS TOO OLD: relative worktrees need git 2.48")
    repo.git("config", "worktree.useRelativePaths", "true")
    post(repo)
    assert (repo.store / ".git").read_text().startswith("gitdir: /")
    said = repo.git("config", "--list", "--local").casefold()
    assert "relativeworktrees" not in said
    assert "repositoryformatversion=0" in said


# --- the home folder is a repository ------------------------------------------


def test_stores_are_not_added_to_a_repository_at_home(repo: Repo) -> None:
    machine = repo.machine
    machine.git("init", "-q", str(machine.home), cwd="/")
    post(repo)
    machine.git("add", "-A", cwd=machine.home)
    assert ".watercooler" not in machine.git("ls-files", cwd=machine.home)
    ignoring = machine.home / ".watercooler/.gitignore"
    assert ignoring.read_text() == "*\n"
    # A store that an older wc made gets it with the next entry.
    ignoring.unlink()
    post(repo)
    assert ignoring.read_text() == "*\n"
    # Someone else's is left as it is.
    ignoring.write_text("mine\n")
    repo.git("worktree", "remove", "-f", "-f", str(repo.store))
    repo.ok("init")
    assert ignoring.read_text() == "mine\n"


# --- a repository that git refuses --------------------------------------------


@pytest.mark.parametrize("why", ["extension", "owner"])
def test_what_git_says_of_a_repository_that_it_refuses(repo: Repo, why: str) -> None:
    repo.git("commit", "-q", "--allow-empty", "-m", "code")
    post(repo)
    env = {"WATERCOOLER_SYNC": "inline"}
    if why == "owner":
        env["GIT_TEST_ASSUME_DIFFERENT_OWNER"] = "1"
        reasons = ["detected dubious ownership", "git config --global --add safe."]
    else:
        repo.git("config", "core.repositoryFormatVersion", "1")
        repo.git("config", "extensions.strange", "true")
        reasons = ["unknown repository extension found: strange"]
    told = {
        "say": repo.ok("say", "auth", "--title", "T", env=env),
        "doctor": repo.wc("doctor", env=env),
        "review": repo.wc("review", "auth", env=env),
        "radar": repo.wc("radar", env=env),
    }
    assert {name: done.code for name, done in told.items()} == {
        "say": 0,
        "doctor": 9,
        "review": 7,
        "radar": 0,
    }
    for name, done in told.items():
        for reason in reasons:
            assert reason in done.out + done.err, name
    assert "not in this repository" not in told["review"].err
    assert "0 files" not in told["radar"].out
    assert "those that could be compared" in told["radar"].err


@pytest.mark.parametrize("mode", ["background", "inline"])
def test_the_first_receipt_says_that_git_refuses(repo: Repo, mode: str) -> None:
    env = {"WATERCOOLER_SYNC": mode}
    stranger = {**env, "GIT_TEST_ASSUME_DIFFERENT_OWNER": "1"}
    first = repo.json("say", "auth", "--title", "T", env=stranger)
    assert any("dubious ownership" in note for note in first["notes"])
    post(repo)
    repo.git("config", "core.repositoryFormatVersion", "1")
    repo.git("config", "extensions.strange", "true")
    (note,) = repo.json("say", "auth", "--title", "T", env=env)["notes"]
    assert "unknown repository extension found: strange" in note


def test_doctor_says_that_git_refuses_where_there_is_no_store(repo: Repo) -> None:
    repo.git("config", "core.repositoryFormatVersion", "1")
    repo.git("config", "extensions.strange", "true")
    done = repo.wc("doctor")
    assert done.code == 9
    assert "unknown repository extension found: strange" in done.out


# --- settings -----------------------------------------------------------------

SETTINGS = """
[commit]
    gpgSign = true
    template = /nonexistent
    cleanup = scissors
[gpg]
    program = false
[i18n]
    commitEncoding = ISO-8859-1
    logOutputEncoding = ISO-8859-1
[core]
    quotepath = true
    precomposeunicode = true
    autocrlf = true
    eol = crlf
    safecrlf = true
    fileMode = false
    sharedRepository = group
    untrackedCache = true
    fsmonitor = true
    fsyncObjectFiles = true
    pager = false
    editor = false
    abbrev = 40
    compression = 0
    attributesFile = ~/attributes
    excludesFile = ~/ignored
    logAllRefUpdates = always
[init]
    defaultBranch = threads
    templateDir = /nonexistent
[merge]
    ff = only
[rerere]
    enabled = true
[log]
    showSignature = true
    follow = true
    date = relative
[color]
    ui = always
[diff]
    external = false
    noprefix = true
    mnemonicPrefix = true
[diff "loud"]
    textconv = false
    command = false
[push]
    default = matching
[feature]
    manyFiles = true
    experimental = true
[index]
    version = 4
[status]
    showUntrackedFiles = no
[fetch]
    fsckObjects = true
[transfer]
    fsckObjects = true
[help]
    autocorrect = 1
[alias]
    gc = !false
"""


@pytest.mark.parametrize("in_worktree", [False, True])
def test_strange_settings_change_no_byte(machine: Machine, in_worktree: bool) -> None:  # noqa: FBT001
    repo = machine.repo()
    if in_worktree:
        repo.git("config", "extensions.worktreeConfig", "true")
        repo.git("config", "--worktree", "core.autocrlf", "true")
    (machine.home / "attributes").write_text("* text=auto eol=crlf diff=loud\n")
    (machine.home / "ignored").write_text("*.jsonl\n*.md\n")
    with (machine.home / ".gitconfig").open("a") as config:
        config.write(SETTINGS)
    words = ("say", "auth", "--title", "Grüße", "--body", "a\r\nb\n")
    ids = [repo.settled(*words, "--json").json["entry_id"], post(repo)]
    check_branch(repo, *ids)
    rows = repo.json("read", "auth", "--commits")["entries"]
    assert [one["committed"] for one in rows] == [True, True]
    subject = repo.git(
        "log", "-1", "--no-show-signature", "--encoding=UTF-8", "--format=%s", THREADS
    )
    assert subject.endswith("Grüße (auth)")
    root = in_store(repo, "rev-list", "--max-parents=0", "HEAD")
    plain = Machine(machine.root / "plain").repo()
    plain.ok("init")
    assert plain.git("rev-parse", THREADS) == root


# --- what holds a commit up ---------------------------------------------------


class Obstacle(NamedTuple):
    """What stands in the way of a commit, how it goes, and git's words."""

    begin: Callable[[Repo], object]
    end: Callable[[Repo], object]
    words: str
    env: Mapping[str, str] = {}


def _lock(repo: Repo) -> Path:
    return repo.path / ".git/refs/heads" / f"{THREADS}.lock"


def _packs(repo: Repo) -> Path:
    return repo.path / ".git/objects/pack"


def _shut(repo: Repo) -> None:
    """What a read-only file system would do, for root as well."""
    packs = _packs(repo)
    packs.rename(packs.with_name("away"))
    packs.write_bytes(b"")


def _reopen(repo: Repo) -> None:
    packs = _packs(repo)
    packs.unlink()
    packs.with_name("away").rename(packs)


def _sign(repo: Repo, program: str) -> None:
    signer = repo.machine.root / "signer"
    signer.write_text(f"#!/bin/sh\n{program}\n")
    signer.chmod(0o755)
    repo.git("config", "gpg.program", str(signer))
    (repo.store / "config.toml").write_text("[git]\nsign = true\n")


def _unsign(repo: Repo) -> None:
    (repo.store / "config.toml").write_text("[git]\nsign = false\n")


FOREIGN = {"GIT_TEST_ASSUME_DIFFERENT_OWNER": "1"}
OBSTACLES = {
    "a lock of the branch": Obstacle(
        lambda repo: _lock(repo).touch(), lambda repo: _lock(repo).unlink(), "lock"
    ),
    "no writing": Obstacle(_shut, _reopen, "pack"),
    "another owner": Obstacle(
        lambda _: None, lambda _: None, "detected dubious ownership", FOREIGN
    ),
    "a signer that fails": Obstacle(
        lambda repo: _sign(repo, "echo 'no secret key' >&2; exit 1"), _unsign, "sign"
    ),
    "a signer that asks": Obstacle(
        lambda repo: _sign(repo, 'read word </dev/tty && echo "$word"'), _unsign, "sign"
    ),
}
# Where git cannot say either what is committed.
UNREADABLE = ("no writing", "another owner")
if FULL:
    OBSTACLES["a signer that hangs"] = Obstacle(
        lambda repo: _sign(repo, "sleep 600"), _unsign, "no signature: git commit-tree"
    )


@pytest.mark.parametrize("name", OBSTACLES)
def test_a_commit_that_fails_is_pending_and_reported(repo: Repo, name: str) -> None:
    obstacle = OBSTACLES[name]
    ids = [post(repo)]
    before = repo.git("rev-parse", THREADS)
    obstacle.begin(repo)
    words = ("say", "auth", "--title", "x", "--as", "Codex", "--json")
    said = repo.settled(*words, env=obstacle.env).json
    assert (said["saved"], said["committed"]) == (True, False)
    (note,) = [text for text in said["notes"] if "not committed: " in text]
    assert obstacle.words in note
    ids.append(said["entry_id"])
    assert repo.git("rev-parse", THREADS) == before
    # Every reader sees it, for as long as it is so.
    found = repo.wc("doctor", "--json", env=obstacle.env).json["findings"]
    (finding,) = [one for one in found if one["file"] == "settling"]
    assert obstacle.words in finding["message"]
    health = Session(repo.path, repo.machine.env).fields("health")
    assert health["unsettled"] == 1
    assert obstacle.words in " ".join(health["problems"])
    rows = repo.json("read", "auth", "--commits", env=obstacle.env)["entries"]
    known = [None, None] if name in UNREADABLE else [True, False]
    assert [one["committed"] for one in rows] == known
    obstacle.end(repo)
    ids.append(post(repo))
    check_branch(repo, *ids)
    assert repo.json("doctor")["findings"] == []


@pytest.mark.parametrize("where", [".git", ".git/worktrees/*"])
def test_a_lock_of_an_index_is_in_nobody_s_way(repo: Repo, where: str) -> None:
    ids = [post(repo)]
    (folder,) = repo.path.glob(where)
    (folder / "index.lock").write_bytes(b"left by a crash")
    ids.append(post(repo))
    assert (folder / "index.lock").read_bytes() == b"left by a crash"
    (folder / "index.lock").unlink()
    check_branch(repo, *ids)


# --- signatures ---------------------------------------------------------------


def test_nothing_is_signed_unless_it_is_asked_for(repo: Repo) -> None:
    asked = repo.machine.root / "asked"
    repo.ok("init")
    _sign(repo, f": >{asked}; exit 1")
    (repo.store / "config.toml").unlink()
    repo.git("config", "commit.gpgSign", "true")
    check_branch(repo, post(repo), post(repo))
    assert not asked.exists()


def test_commits_are_signed_where_it_is_asked_for(repo: Repo) -> None:
    keygen = shutil.which("ssh-keygen")
    if keygen is None:
        pytest.skip("ssh-keygen is not installed")
    key = repo.machine.root / "key"
    words = [keygen, "-q", "-t", "ed25519", "-N", "", "-C", "pat", "-f", str(key)]
    subprocess.run(words, check=True, capture_output=True)
    allowed = repo.machine.root / "allowed"
    allowed.write_text(f"pat@example.org {key.with_suffix('.pub').read_text()}")
    for name, value in (
        ("gpg.format", "ssh"),
        ("user.signingKey", str(key)),
        ("gpg.ssh.allowedSignersFile", str(allowed)),
    ):
        repo.git("config", name, value)
    repo.ok("init")
    (repo.store / "config.toml").write_text("[git]\nsign = true\n")
    ids = [post(repo), post(repo)]
    assert repo.git("log", "-2", "--format=%G?", THREADS).split() == ["G", "G"]
    assert repo.git("for-each-ref", "--format=%(refname)").split() == [
        "refs/heads/main",
        f"refs/heads/{THREADS}",
    ]
    check_branch(repo, *ids)
    in_store(repo, "fsck", "--strict")


# --- what is not ours ---------------------------------------------------------


def snapshot(repo: Repo) -> dict[str, bytes]:
    """Every file of the code's repository, but for what the store's branch is."""
    objects, ours = repo.path / ".git/objects", f"refs/heads/{THREADS}"
    admin, private = repo.path / ".git/worktrees", repo.path / ".git/watercooler"
    kept = {f".git/{ours}", f".git/logs/{ours}"}
    return {
        name: path.read_bytes()
        for path in sorted(repo.path.rglob("*"))
        if path.is_file() and {objects, admin, private}.isdisjoint(path.parents)
        if (name := str(path.relative_to(repo.path))) not in kept
    }


def test_the_repository_of_the_code_is_the_same_to_the_byte(repo: Repo) -> None:
    bare = repo.machine.root / "bare.git"
    repo.machine.git("init", "-q", "--bare", str(bare), cwd=repo.path)
    repo.git("remote", "add", "origin", str(bare))
    repo.git("push", "-q", "origin", "main")
    repo.git("fetch", "-q", "origin", "main")
    repo.git("tag", "-a", "v1", "-m", "one")
    (repo.path / "code.txt").write_text("stashed\n")
    repo.git("stash", "-q")
    repo.git("branch", "other")
    (repo.path / "code.txt").write_text("staged\n")
    repo.git("add", "code.txt")
    (repo.path / "code.txt").write_text("changed\n")
    (repo.path / "new.txt").write_text("untracked\n")
    before, refs = snapshot(repo), repo.git("for-each-ref")
    assert {".git/FETCH_HEAD", ".git/HEAD", ".git/index"} <= before.keys()
    repo.ok("init")
    ids = [post(repo) for _ in range(2)]
    ids += [
        repo.json("say", topic, "--title", "burst")["entry_id"]
        for topic in ("auth", "billing", "auth", "docs")
    ]
    ids.append(post(repo))
    (repo.store / "threads/docs.md").unlink()
    repo.wc("doctor")
    repo.ok("doctor", "--repair")
    for words in (
        ["read", "auth", "--commits"],
        ["read", "auth"],
        ["list"],
        ["search", "burst"],
    ):
        repo.ok(*words)
    repo.settled("set-status", "docs", "CLOSED")
    assert snapshot(repo) == before
    ours = [one for one in repo.git("for-each-ref").split("\n") if THREADS not in one]
    assert ours == refs.split("\n")
    objects = "count-objects", "-v"
    assert "garbage: 0" in repo.git(*objects)
    named = repo.git("log", "--format=%B", THREADS)
    assert [named.count(one) for one in ids] == [1] * len(ids)


URLS = {
    "https://example.org/acme/app.git": "acme/app",
    "https://pat:secret@example.org/acme/app": "acme/app",
    "https://secret@example.org/app.git": "here",
    "https://pat:secret@example.org/app.git/": "here",
    "https://example.org/acme/app?private_token=secret": "acme/app",
    "https://example.org:8443/group/sub/app.git": "sub/app",
    "ssh://git@example.org:22/acme/app.git": "acme/app",
    "git@example.org:acme/app.git": "acme/app",
    "secret@example.org:app.git": "here",
    "git@[::1]:acme/app.git": "acme/app",
    "file:///srv/secret/app.git": "here",
    "/srv/secret/app.git": "here",
    "../secret/app.git": "here",
    "": "here",
}


def test_the_name_of_the_code_s_repository_is_not_a_url(machine: Machine) -> None:
    repo = machine.repo("here")
    where = repository.find(str(repo.path))
    assert where is not None
    config = repo.path / ".git/config"
    text = config.read_text()
    found = {}
    for url in URLS:
        config.write_text(f'{text}[remote "origin"]\n\turl = {url}\n')
        found[url] = messages.code_repo(where, machine.env)
    assert found == URLS


# --- how much it takes --------------------------------------------------------


def size_of(folder: Path) -> int:
    """What the files below a folder take."""
    return sum(one.stat().st_size for one in folder.rglob("*") if one.is_file())


def test_a_commit_for_each_entry_takes_a_few_times_the_log(repo: Repo) -> None:
    """Whole copies of log and page would be as many times as there are commits."""
    repo.ok("init")
    env = {**repo.machine.env, "WATERCOOLER_SYNC": "inline"}
    dice = random.Random("growth")
    git = repo.path / ".git"
    before = size_of(git)
    for _ in range(ROUNDS):
        body = base64.b64encode(dice.randbytes(3000))
        words = ["say", "auth", "--title", "x", "--body", "-"]
        assert wc(words, repo.path, env, body).code == 0
    log, grown = repo.log("auth").stat().st_size, size_of(git) - before
    print(f"{ROUNDS} commits: {grown / log:.1f} times the log of {log} bytes")
    assert repo.git("rev-list", "--count", THREADS) == str(ROUNDS + 1)
    assert grown <= 10 * log
    in_store(repo, "fsck", "--strict", "--connectivity-only")
    check_branch(repo, *(one["entry_id"] for one in repo.entries("auth")))


@pytest.mark.parametrize("setting", ["gc.auto=0", "extensions.partialClone=origin"])
def test_where_git_is_to_do_nothing_by_itself_nothing_is_packed(
    repo: Repo, setting: str
) -> None:
    repo.git("config", *setting.split("="))
    check_branch(repo, *(post(repo) for _ in range(2)))
    assert os.listdir(_packs(repo)) == []


def test_packs_that_someone_means_to_keep_stay(repo: Repo) -> None:
    """And none is made of many while git's own maintenance is at it."""
    ids = [post(repo) for _ in range(3)]
    kept = {one for one in os.listdir(_packs(repo)) if one.endswith(".pack")}
    for one in kept:
        (_packs(repo) / one.replace(".pack", ".keep")).touch()
    lock = repo.path / ".git/objects/maintenance.lock"
    lock.touch()
    ids += [post(repo) for _ in range(22)]
    assert len([one for one in os.listdir(_packs(repo)) if one.endswith(".idx")]) == 25
    lock.unlink()
    ids += [post(repo) for _ in range(6)]
    now = {one for one in os.listdir(_packs(repo)) if one.endswith(".pack")}
    assert kept < now
    assert len(now) < 15
    check_branch(repo, *ids)


def test_packs_are_joined_after_a_kill_left_one_without_its_index(repo: Repo) -> None:
    ids = [post(repo) for _ in range(23)]
    (first, *_) = sorted(one for one in _packs(repo).iterdir() if one.suffix == ".pack")
    copy = first.with_name(f"pack-{'0' * 40}.pack")
    shutil.copy(first, copy)
    (names,) = (repo.path / ".git").rglob("packs.wc")
    names.write_text(f"{names.read_text()}{copy}:\n")
    ids += [post(repo) for _ in range(4)]
    assert len([one for one in os.listdir(_packs(repo)) if one.endswith(".idx")]) < 20
    check_branch(repo, *ids)


def test_packs_of_others_stay(repo: Repo) -> None:
    """Made into one are those of the store alone, and none that git has
    listed in an index of many."""
    repo.git("repack", "-q", "-a", "-d")
    theirs = set(os.listdir(_packs(repo)))
    ids = [post(repo) for _ in range(3)]
    repo.git("multi-pack-index", "write")
    listed = set(os.listdir(_packs(repo)))
    ids += [post(repo) for _ in range(26)]
    now = set(os.listdir(_packs(repo)))
    assert theirs < listed < now
    assert len([one for one in now - listed if one.endswith(".pack")]) < 20
    check_branch(repo, *ids)
    repo.git("multi-pack-index", "verify")
    repo.git("gc", "-q")
    check_branch(repo, *ids, post(repo))
