"""What a user of ``wc sync`` sees, and of what travels by itself."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.conftest import THREADS, Machine
from tests.contract.pairs import Clone, Pair
from wc_cli.ledger.sync.exchange import Waiting

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from tests.conftest import Done

SAFE = "Your entries are safe here; the next sync sends them."
NOTHING = "origin: nothing new, here or there\n"
INLINE = {"WATERCOOLER_SYNC": "inline"}
BACKGROUND = {"WATERCOOLER_SYNC": "background"}


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Pair:
    return Pair.prepare(tmp_path_factory.mktemp("pairs") / "first")


@pytest.fixture
def pair(prepared: Pair, tmp_path: Path) -> Pair:
    return prepared.copy(tmp_path / "pair")


def said(clone: Clone, *words: str, **how: Any) -> str:
    """What a command that succeeds says, notes and all."""
    done = clone.ok(*words, **how)
    return done.out + done.err


def fails(clone: Clone, code: int, *words: str, **how: Any) -> str:
    """What a command says that fails with that code, in words and in JSON."""
    error = clone.wc(*words, "--json", **how)
    done = clone.wc(*words, **how)
    assert (done.code, done.out) == (error.code, error.out) == (code, ""), done
    fields = error.error
    told = f"wc: {fields['message']}\n    {fields['hint']}\n"
    # The transport says how long each connection took.
    took = re.compile(r"after \d+ ms")
    assert took.sub("", done.err) == took.sub("", told)
    return done.err


def until(true: Callable[[], object], what: str = "") -> None:
    deadline = time.monotonic() + 30
    while not true():
        assert time.monotonic() < deadline, what or "it does not come true"
        time.sleep(0.02)


def bare(path: Path, clone: Clone) -> Path:
    clone.git("init", "-q", "--bare", str(path), cwd=clone.home)
    return path


# --- there and back -----------------------------------------------------------


def test_what_goes_and_what_comes(pair: Pair) -> None:
    a, b = pair.a, pair.b
    assert said(a, "sync") == NOTHING
    for topic in ("auth", "auth", "plan"):
        a.say(topic, "x")
    before = pair.remote_tip()
    would = "origin: 3 entries (auth 2, plan) would go\n"
    assert said(a, "sync", "--dry-run") == would
    assert pair.remote_tip() == before
    assert said(a, "sync") == "origin: 3 entries (auth 2, plan) went\n"
    b.say("auth", "y")
    known = b.log("auth")
    facts = {"came": {"auth": 2, "plan": 1}, "went": {"auth": 1}, "joined": True}
    facts |= {"remote": "origin", "outvoted": [], "notes": [], "harvested": {}}
    looked = b.ok("sync", "--dry-run", "--json").json
    assert looked == {**facts, "ahead": 1, "behind": 1, "dry_run": True}
    assert b.log("auth") == known
    words = "origin: 3 entries (auth 2, plan) would come · 1 entry (auth) would go\n"
    assert said(b, "sync", "--dry-run") == words
    done = b.ok("sync", "--json").json
    assert done == {**facts, "ahead": 1, "behind": 1, "dry_run": False}
    assert said(a, "sync") == "origin: 1 entry (auth) came\n"
    assert a.tip() == b.tip() == pair.remote_tip()
    a.check(b)
    b.check(a)


def test_many_threads_are_not_all_named(pair: Pair) -> None:
    for number in range(10):
        pair.a.ok("say", f"t{number}", "--title", "x", "--new")
    expected = "t0, t1, t2, t3, t4, t5, t6, t7, 2 more"
    assert said(pair.a, "sync") == f"origin: 10 entries ({expected}) went\n"


def test_a_fork_is_shown_until_someone_joins_it(pair: Pair) -> None:
    for clone in (pair.a, pair.b):
        clone.say("auth", f"Of {clone.home.name}")
    pair.a.ok("sync")
    pair.b.ok("sync")
    shown = pair.b.ok("read", "auth").out
    assert "forked: 2 histories; the next entry joins them\n" in shown
    assert shown.count(" · forked · ") == 2
    entries = pair.b.ok("read", "auth", "--json").json["entries"]
    assert [bool(one.get("forked")) for one in entries] == [False, False, True, True]
    pair.b.say("auth", "Joined")
    assert "forked" not in pair.b.ok("read", "auth").out


def test_two_sides_of_a_file_of_nobody(pair: Pair) -> None:
    for clone in (pair.a, pair.b):
        (clone.store / "picture.bin").write_bytes(b"\0" + clone.home.name.encode())
        clone.git("add", "picture.bin")
        clone.git("commit", "-q", "-m", "picture")
    pair.a.ok("sync")
    expected = (
        "origin: 1 commit came · 1 commit went · no entries\n"
        "note: picture.bin was changed on both sides; the version of origin counts, "
        "yours is in the history\n"
    )
    assert said(pair.b, "sync") == expected
    assert (pair.b.store / "picture.bin").read_bytes() == b"\0a"


# --- which remote -------------------------------------------------------------


def test_the_first_push_makes_the_branch(pair: Pair) -> None:
    pair.set_remote("")
    a = pair.a
    assert said(a, "sync") == (
        "origin: 3 entries (auth 2, plan) went\nnote: origin no longer had the branch\n"
    )
    assert pair.remote_tip() == a.tip()
    assert said(a, "sync") == NOTHING


def test_init_pushes_where_it_is_asked_to(pair: Pair) -> None:
    a = pair.a
    a.git("update-ref", "-d", f"refs/remotes/origin/{THREADS}")
    pair.set_remote("")
    store = a.ok("whoami", "--json").json["store"]
    expected = f"The store was already there: {store} (2 threads)\n"
    assert a.ok("init").out == expected
    assert pair.remote_tip() == ""
    more = "origin has it; new entries are pushed in the background.\n"
    assert a.ok("init", "--push").out == expected + more
    assert pair.remote_tip() == a.tip()
    assert a.ok("init", "--push", "--json").json["pushed_to"] == "origin"


def test_of_several_remotes_someone_has_to_say_which(pair: Pair) -> None:
    a = pair.a
    other = bare(pair.root / "other.git", a)
    a.git("remote", "add", "second", str(other))
    assert said(a, "sync") == NOTHING
    all_of_it = "3 entries (auth 2, plan) went\n"
    assert said(a, "sync", "second") == f"second: {all_of_it}"
    a.git("remote", "rename", "origin", "first")
    for name in ("first", "second"):
        a.git("update-ref", "-d", f"refs/remotes/{name}/{THREADS}")
    assert fails(a, 2, "sync") == (
        "wc: There are several remotes: first, second.\n"
        "    Say which one: wc sync first\n"
    )
    assert fails(a, 2, "sync", "third") == (
        "wc: There is no remote third.\n    There are: first, second.\n"
    )
    assert said(a, "sync", "first") == "first: nothing new, here or there\n"
    assert said(a, "sync") == "first: nothing new, here or there\n"
    for name in ("first", "second"):
        a.git("remote", "remove", name)
    assert fails(a, 2, "sync") == (
        "wc: This repository has no remote.\n"
        "    Add one (git remote add origin URL), or name one: wc sync URL\n"
    )


@pytest.mark.parametrize("form", ["name", "path", "home", "url"])
def test_a_repository_for_the_threads_alone(pair: Pair, form: str) -> None:
    a, b = pair.a, pair.b
    other = bare(a.home / "other.git", a)
    a.git("remote", "add", "second", str(other))
    forms = {
        "name": ("second", "second"),
        "path": (str(other), "~/other.git"),
        "home": ("~/other.git", "~/other.git"),
        "url": (f"file://{other}", f"file://{other}"),
    }
    repo, shown = forms[form]
    named = {"WATERCOOLER_GIT_REPO": repo}
    a.say("auth", "x")
    before = pair.remote_tip()
    went = "4 entries (auth 3, plan) went"
    assert said(a, "sync", env=named) == f"{shown}: {went}\n"
    done = a.ok("say", "auth", "--title", "y", "--json", env={**named, **INLINE})
    assert done.json["pushed"] is True
    a.git("--git-dir", str(other), "rev-parse", "--verify", f"refs/heads/{THREADS}")
    assert pair.remote_tip() == before
    theirs = {"WATERCOOLER_GIT_REPO": str(other)}
    assert said(b, "sync", env=theirs).endswith(": 2 entries (auth) came\n")


@pytest.mark.parametrize("how", ["variable", "argument", "remote"])
def test_credentials_are_never_shown(pair: Pair, how: str) -> None:
    a = pair.a
    url = "https://pat:secret@127.0.0.1:1/x.git?key=secret"
    words, env = ["sync"], {}
    if how == "variable":
        env = {"WATERCOOLER_GIT_REPO": url}
    elif how == "argument":
        words = ["sync", url]
    else:
        a.git("remote", "set-url", "origin", url)
    text = fails(a, 8, *words, env=env)
    for shown in (text, a.wc("doctor", env=env).out, a.wc("brief", env=env).out):
        assert "secret" not in shown
    for path in (a.store / ".local").rglob("*"):
        assert not path.is_file() or b"secret" not in path.read_bytes()
    assert not a.git("for-each-ref", "refs/watercooler").count("secret")


def test_a_fault_here_that_doctor_shows_does_not_lead_back_to_it(pair: Pair) -> None:
    pair.a.say("auth", "x")
    pair.a.ok("sync")
    b = pair.b
    lock = b.path / f".git/refs/remotes/origin/{THREADS}.lock"
    lock.parent.mkdir(parents=True, exist_ok=True)
    lock.write_text("")
    assert fails(b, 7, "sync").endswith("    See: wc doctor\n")
    text = b.wc("doctor").out
    assert f"{THREADS}.lock" in text
    assert "See: wc doctor" not in text
    assert "Once that is fixed: wc sync" in text
    lock.unlink()
    assert said(b, "sync").endswith("came\n")
    assert "sync:" not in b.wc("doctor").out


def test_a_store_without_a_branch_has_nothing_to_exchange(pair: Pair) -> None:
    a = pair.a
    (a.home / "notes").mkdir()
    (a.path / "sub/.watercooler/threads").mkdir(parents=True)
    for cwd, store in (("../notes", "~/notes"), ("sub", "~/app/sub")):
        assert fails(a, 2, "sync", cwd=cwd) == (
            f"wc: The store {store}/.watercooler has no branch of its own to "
            "exchange.\n"
            "    A store in the code's tree travels with the code; one outside "
            "git has to be copied.\n"
        )


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("--watch", "--dry-run"), "--watch excludes --dry-run"),
        (("--every", "0"), "--every takes at least 1 second"),
        (("--timeout", "soon"), "Invalid value for '--timeout'"),
    ],
)
def test_options_that_make_no_sense(
    pair: Pair, words: tuple[str, ...], expected: str
) -> None:
    assert expected in fails(pair.a, 2, "sync", *words)


def test_a_clone_adopts_what_the_remote_has(pair: Pair) -> None:
    c = Clone(pair.root, "c")
    c.prepare(pair.remote)
    c.git("update-ref", "-d", f"refs/remotes/origin/{THREADS}", cwd=c.path)
    assert said(c, "sync") == "origin: 3 entries (auth 2, plan) came\n"
    assert c.tip() == pair.remote_tip()
    c.check(pair.a)


def test_a_look_makes_no_store(pair: Pair) -> None:
    c = Clone(pair.root, "c")
    c.prepare(pair.remote)
    c.git("update-ref", "-d", f"refs/remotes/origin/{THREADS}", cwd=c.path)
    would = "origin: 3 entries (auth 2, plan) would come\n"
    assert said(c, "sync", "--dry-run") == would
    assert not c.git("for-each-ref", "refs/heads/watercooler", cwd=c.path)
    assert not c.git("worktree", "list", "--porcelain", cwd=c.path).count("watercooler")
    pair.remote.rename(pair.root / "away")
    bare(pair.remote, pair.a)
    d = Clone(pair.root, "d")
    d.prepare(pair.remote)
    assert said(d, "sync", "--dry-run") == NOTHING


# --- remotes that do not -------------------------------------------------------


def test_a_remote_that_is_gone_and_back(pair: Pair) -> None:
    a = pair.a
    away = pair.root / "away"
    pair.remote.rename(away)
    text = fails(a, 8, "sync")
    assert text.startswith("wc: origin: ")
    assert "does not appear to be a git repository" in text
    assert SAFE in text
    assert fails(a, 8, "sync", "--dry-run") == text
    # Inline, the next write tries again.
    for env, words, end in (
        (INLINE, (), " · committed\n"),
        ({}, ("--sync",), " · committed · not pushed: wc sync\n"),
    ):
        done = a.ok("say", "auth", "--title", "x", *words, env=env)
        assert done.out.endswith(end)
        assert "note: not pushed: origin: " in done.err
    away.rename(pair.remote)
    assert said(a, "sync") == "origin: 2 entries (auth) went\n"
    done = a.ok("say", "auth", "--title", "x", "--sync")
    assert done.out.endswith(" · committed · pushed\n")
    assert pair.remote_tip() == a.tip()


def test_the_number_in_a_receipt_is_that_of_after_the_exchange(pair: Pair) -> None:
    a, b = pair.a, pair.b
    before = len(a.ok("read", "auth", "--json").json["entries"])
    b.ok("say", "auth", "--title", "Older, and not here yet", "--sync")
    done = a.ok("say", "auth", "--title", "Newer", "--sync")
    assert done.out.startswith(f"saved auth #{before + 1} ·")
    read = a.ok("read", "auth", "--from", f"{before + 1}", "--json").json
    (entry,) = read["entries"]
    assert (entry["idx"], entry["title"]) == (before + 1, "Newer")


@pytest.mark.parametrize("how", ["timeout", "say"])
def test_a_remote_that_hangs_is_waited_for_and_no_longer(
    pair: Pair, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    a = pair.a
    hang = pair.root / "hang"
    hang.write_text(f"#!/bin/sh\necho $$ > {pair.root}/pid\nexec sleep 60\n")
    hang.chmod(0o755)
    a.git("remote", "set-url", "origin", "ssh://nowhere.invalid/x.git")
    a.git("config", "core.sshCommand", str(hang))
    a.git("config", "ssh.variant", "simple")
    began = time.monotonic()
    if how == "say":
        at_most = vars(Waiting)["at_most"].__func__
        monkeypatch.setattr(at_most, "__defaults__", (1,))
        done = a.ok("say", "auth", "--title", "x", "--sync", "--json").json
        assert (done["committed"], done["pushed"]) == (True, False)
        assert "did not answer within 1 s" in done["notes"][-1]
    else:
        done = a.wc("sync", "--timeout", "1")
        assert done.code == 8
        assert done.err == f"wc: origin did not answer within 1 s.\n    {SAFE}\n"
    assert time.monotonic() - began < 15
    pid = int((pair.root / "pid").read_text())
    until(lambda: not Path(f"/proc/{pid}").exists() or _is_zombie(pid))


def _is_zombie(pid: int) -> bool:
    return ") Z " in Path(f"/proc/{pid}/stat").read_text()


def test_a_remote_that_may_only_be_read(pair: Pair) -> None:
    hook = pair.remote / "hooks/pre-receive"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\necho closed for today >&2\nexit 1\n")
    hook.chmod(0o755)
    pair.a.say("auth", "x")
    text = fails(pair.a, 8, "sync")
    assert text.startswith("wc: origin refused: pre-receive hook declined: closed for")
    assert "Ask the owner of the remote for permission to push" in text
    assert pair.a.git("status", "--porcelain") == ""


def test_a_branch_that_was_lost_or_rewritten_takes_nothing_with_it(pair: Pair) -> None:
    a, b = pair.a, pair.b
    b.say("auth", "y")
    b.ok("sync")
    a.ok("sync")
    pair.set_remote(a.git("rev-parse", f"{THREADS}~2"))
    a.say("auth", "x")
    done = a.ok("sync")
    assert done.err == (
        "note: the history of origin was rewritten; everything here is kept\n"
    )
    b.ok("sync")
    a.check(b)
    b.check(a)
    pair.set_remote("")
    assert b.ok("sync").err == "note: origin no longer had the branch\n"
    assert said(b, "sync") == NOTHING


@pytest.mark.parametrize("fetched", [False, True])
def test_a_branch_of_that_name_that_is_not_a_store(
    pair: Pair,
    fetched: bool,  # noqa: FBT001
) -> None:
    a = pair.a
    before = a.tip()
    pair.set_remote(a.git("rev-parse", "main"))
    if fetched:  # by a person
        a.git("fetch", "-q", "origin")
    expected = (
        f"wc: origin has a branch {THREADS} that is not a store.\n"
        "    Nothing was changed. Rename it there, or use another repository: "
        "WATERCOOLER_GIT_REPO\n"
    )
    assert fails(a, 4, "sync") == expected
    a.say("auth", "x")
    assert fails(a, 4, "sync") == expected
    assert pair.remote_tip() == a.git("rev-parse", "main")
    assert a.git("rev-parse", f"{THREADS}~1") == before


def test_a_file_that_cannot_be_taken_in_takes_no_settings_back(pair: Pair) -> None:
    """Neither here nor, with what is pushed, for everyone else."""
    a, b = pair.a, pair.b
    settings = '[ball]\nenforce = "refuse"\n'
    (b.store / "config.toml").write_text(settings)
    (b.store / "a-file").write_text("x")
    (b.store / "z-file").write_text("x")
    b.git("add", ".")
    b.git("commit", "-qm", "Settings")
    b.ok("sync")
    (a.store / "a-file").mkdir()
    for _ in range(2):
        assert "not taken in: " in a.ok("sync").err
    assert (a.store / "config.toml").read_text() == settings
    assert (a.store / "z-file").read_text() == "x"
    assert a.git("show", f"{THREADS}:config.toml") == settings.strip()
    assert a.tip() == b.tip()


def test_settings_that_cannot_be_used_stop_nobody_else(pair: Pair) -> None:
    a, b = pair.a, pair.b
    (a.store / "config.toml").write_text('[sync]\nfetch_every = "x"\n')
    assert "note: not committed: config.toml: the settings cannot be used: " in (
        a.ok("sync").err
    )
    b.ok("sync")
    b.say("auth", "x")
    (a.store / "config.toml").write_text("[sync]\nfetch_every = 20\n")
    assert not a.ok("sync").err
    assert a.git("show", f"{THREADS}:config.toml") == "[sync]\nfetch_every = 20"


def test_a_store_that_is_named_from_another_repository(pair: Pair) -> None:
    named = pair.root / "named"
    words = ("clone", "-q", "--single-branch", "--branch", THREADS)
    pair.a.git(*words, str(pair.remote), str(named), cwd=pair.root)
    env = {"WATERCOOLER_DIR": str(named)}
    done = pair.a.ok("say", "auth", "--title", "x", "--sync", env=env)
    assert done.out.endswith(" · committed · pushed\n")


# --- going on ------------------------------------------------------------------


class Watch:
    """``wc sync --watch``, running."""

    def __init__(self, clone: Clone, *words: str) -> None:
        self.process = subprocess.Popen(
            [*Machine.wc_words, "sync", "--watch", "--every", "1", *words],
            cwd=clone.path,
            env=clone.env,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def line(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline()

    def complaint(self) -> str:
        assert self.process.stderr is not None
        return self.process.stderr.readline()

    def interrupt(self) -> tuple[int, str, str]:
        self.process.send_signal(signal.SIGINT)
        out, err = self.process.communicate(timeout=30)
        return self.process.returncode, out, err


@pytest.fixture
def watch(pair: Pair) -> Iterator[Watch]:
    watch = Watch(pair.a)
    yield watch
    watch.process.kill()
    watch.process.communicate()


def test_watching(pair: Pair, watch: Watch) -> None:
    """What others write arrives, what is written here goes at once; a remote
    that is gone is said, and waited for."""
    a, b = pair.a, pair.b
    b.say("auth", "Of b")
    b.ok("sync")
    assert watch.line() == "origin: 1 entry (auth) came\n"
    a.say("plan", "Of a")
    assert watch.line() == "origin: 1 entry (plan) went\n"
    away = pair.root / "away"
    pair.remote.rename(away)
    assert "does not appear to be a git repository" in watch.complaint()
    a.say("plan", "Of a again")
    away.rename(pair.remote)
    assert watch.line() == "origin: 1 entry (plan) went\n"
    code, out, _ = watch.interrupt()
    assert (code, out) == (130, "")
    b.ok("sync")
    b.check(a)


def test_watching_does_not_hurry_because_of_what_cannot_be_settled(
    pair: Pair,
) -> None:
    Path(pair.a.layout.log("auth")).rename(pair.root / "log")
    Path(f"{pair.a.layout.unsettled}/auth").touch()
    watch = Watch(pair.a, "--every", "60")
    try:
        assert watch.line() == NOTHING
        time.sleep(1.2)  # in which it would be looked at twice
        pair.a.say("plan", "x")
        assert watch.line() == "origin: 1 entry (plan) went\n"
    finally:
        watch.process.kill()
        watch.process.communicate()


def test_watching_in_json_has_a_line_for_each_exchange(pair: Pair) -> None:
    watch = Watch(pair.a, "--json")
    try:
        pair.b.say("auth", "x")
        pair.b.ok("sync")
        found = json.loads(watch.line())
        assert (found["came"], found["went"]) == ({"auth": 1}, {})
        assert watch.interrupt()[0] == 130
    finally:
        watch.process.kill()


# --- by itself -----------------------------------------------------------------


def test_what_is_written_is_pushed_in_the_background(pair: Pair) -> None:
    a = pair.a
    done = a.say("auth", "x", env=BACKGROUND)
    assert (done["committed"], done["pushed"]) == (False, False)
    until(partial(_is_named, a, done["entry_id"]))
    until(lambda: pair.remote_tip() == a.tip())
    until(lambda: a.is_idle)


@pytest.mark.parametrize(
    "off",
    [
        "no branch there",
        "push = off",
        "WATERCOOLER_PUSH",  # of an older version
        "WATERCOOLER_SYNC",
    ],
)
def test_what_nobody_asked_to_push_stays(pair: Pair, off: str) -> None:
    a = pair.a
    env: Mapping[str, str] = BACKGROUND
    if off == "no branch there":
        pair.set_remote("")
        a.git("update-ref", "-d", f"refs/remotes/origin/{THREADS}")
    elif off == "push = off":
        (a.store / "config.toml").write_text('[sync]\npush = "off"\n')
    elif off == "WATERCOOLER_PUSH":
        env = {**BACKGROUND, off: "off"}
    else:
        env = {off: "off"}
    before = pair.remote_tip()
    done = a.say("auth", "x", env=env)
    assert done["pushed"] is False
    if off != "WATERCOOLER_SYNC":
        until(partial(_is_named, a, done["entry_id"]))
    until(lambda: a.is_idle)
    assert pair.remote_tip() == before
    # Who asks for it gets it, whatever is configured.
    assert said(a, "sync").startswith("origin: ")
    assert pair.remote_tip() == a.tip()


@pytest.mark.parametrize(
    ("setting", "fetched"),
    [("", False), ("60", True), ("0", False)],
)
def test_a_command_that_reads_fetches_where_it_is_time(
    pair: Pair,
    setting: str,
    fetched: bool,  # noqa: FBT001
) -> None:
    a, b = pair.a, pair.b
    b.say("auth", "x")
    b.ok("sync")
    if setting:
        (a.store / "config.toml").write_text(f"[sync]\nfetch_every = {setting}\n")
        a.ok("sync", "--dry-run")
    _age_exchange(a, 120)
    before = a.ids("auth")
    a.ok("list", env=BACKGROUND)
    if fetched:
        until(lambda: a.ids("auth") != before)
    else:
        time.sleep(0.3)
    until(lambda: a.is_idle)
    assert (a.ids("auth") != before) is fetched


@pytest.mark.parametrize("why", ["ahead", "lost"])
def test_where_nothing_is_due_the_next_command_starts_nothing(
    pair: Pair, why: str
) -> None:
    a = pair.a
    a.ok("sync")
    _age_exchange(a, 600)
    if why == "lost":
        a.git("update-ref", "-d", f"refs/remotes/origin/{THREADS}")
    else:  # the clock was
        path = Path(a.layout.sync_state)
        fields = json.loads(path.read_text())
        path.write_text(json.dumps({**fields, "fetched_at": "2099-01-01T00:00:00Z"}))
        os.utime(path, (time.time() - 600,) * 2)
    a.ok("list", env=BACKGROUND)
    until(lambda: time.time() - os.stat(a.layout.sync_state).st_mtime < 300)


def test_what_an_exchange_came_to_cannot_be_noted(pair: Pair) -> None:
    """Then it is not made again and again."""
    a = pair.a
    a.ok("sync")
    os.unlink(a.layout.sync_state)
    os.mkdir(a.layout.sync_state)
    log = pair.root / "traced"
    env = {**BACKGROUND, "GIT_TRACE": str(log)}
    a.ok("say", "auth", "--title", "x", env=env)
    until(lambda: pair.remote_tip() == a.tip())
    until(lambda: a.is_idle)
    assert log.read_text().count("git fetch") < 3


def _is_named(clone: Clone, entry: str) -> bool:
    return entry in clone.git("log", "--format=%B", THREADS)


def _age_exchange(clone: Clone, seconds: float) -> None:
    """Make the last exchange that much longer ago."""
    path = Path(clone.layout.sync_state)
    fields = json.loads(path.read_text())
    when = time.time() - seconds
    fields["fetched_at"] = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(when))
    path.write_text(json.dumps(fields))
    os.utime(path, (when, when))


def test_a_remote_that_hangs_holds_nobody_up(pair: Pair) -> None:
    """Not the writer, not what settles, and not the next command."""
    a = pair.a
    hang = pair.root / "hang"
    hang.write_text("#!/bin/sh\nexec sleep 60\n")
    hang.chmod(0o755)
    a.git("remote", "set-url", "origin", "ssh://nowhere.invalid/x.git")
    a.git("config", "core.sshCommand", str(hang))
    a.git("config", "ssh.variant", "simple")
    for title in ("x", "y"):
        done = a.say("auth", title, env=BACKGROUND)
        until(partial(_is_named, a, done["entry_id"]))
    travel = Path(a.layout.sync_lock)
    assert travel.exists()
    shutil.rmtree(a.store / ".local/unsettled")


# A git that reports each call, and does something before it tidies up.
WATCHED_GIT = """\
#!/bin/sh
echo "$PPID $*" >>"{calls}"
case " $* " in *" read-tree "*) {script} ;; esac
exec "{git}" "$@"
"""
AWAIT_PUSH = """\
for _ in $(seq 500); do grep -q " push " "{calls}" && break; sleep 0.02; done
grep -q " push " "{calls}" || exit 1"""
COMMIT_MORE = """\
tip=$("{git}" -C "{store}" rev-parse HEAD)
"{git}" -C "{store}" update-ref HEAD \
  "$("{git}" -C "{store}" commit-tree -p $tip -m more $tip^{{tree}})" $tip"""


def pushed(pair: Pair, tmp_path: Path, script: str) -> tuple[Done, list[str]]:
    """What `wc sync` says that has something to commit and to push, and the calls of
    git that it made."""
    names = {"calls": tmp_path / "calls", "git": shutil.which("git")}
    names |= {"store": pair.a.store}
    text = WATCHED_GIT.format(script=script.format(**names), **names)
    pair.a.say("auth", "x")
    pair.a.ok("sync")
    pair.a.say("auth", "y")
    git = tmp_path / "bin/git"
    git.parent.mkdir()
    git.write_text(text)
    git.chmod(0o755)
    env = {**BACKGROUND, "PATH": f"{git.parent}:{pair.a.env['PATH']}"}
    done = pair.a.ok("sync", env=env)
    return done, (tmp_path / "calls").read_text().splitlines()


def test_a_push_begins_before_settling_has_ended(pair: Pair, tmp_path: Path) -> None:
    done, calls = pushed(pair, tmp_path, AWAIT_PUSH)
    assert done.out + done.err == "origin: 1 entry (auth) went\n"
    # No process was started to settle: the command did so itself.
    assert len({call.partition(" ")[0] for call in calls}) == 1
    assert pair.a.tip() == pair.remote_tip()


def test_what_is_committed_after_a_push_has_begun_goes_as_well(
    pair: Pair, tmp_path: Path
) -> None:
    done, calls = pushed(pair, tmp_path, COMMIT_MORE)
    assert "origin: 1 entry (auth) went\n" in done.out
    assert len([call for call in calls if " push " in call]) == 2
    assert pair.a.tip() == pair.remote_tip()
