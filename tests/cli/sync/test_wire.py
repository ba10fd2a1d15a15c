"""Fetch and push of the branch, whatever the user's git is told to do."""

from __future__ import annotations

import os
import re
import time
from typing import TYPE_CHECKING

import pytest

from tests.contract.hubs import REF, Clone, Hub
from wc_cli.ledger.branch.git import Git, GitError, GitTimeoutError
from wc_cli.ledger.sync.wire import Wire
from wc_cli.ledger.sync.wireerrors import (
    DeclinedError,
    RefusedError,
    RejectedError,
    UnreachableError,
    WireError,
    classify,
)
from wc_core.ledger.git.remotes import Remote

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Machine

TRACKING = "refs/remotes/origin/watercooler/threads"
# All that would move something else, move it by force, or ask for something.
IN_THE_WAY = {
    "remote.origin.mirror": "true",
    "remote.origin.fetch": "+refs/*:refs/*",
    "remote.origin.push": "+refs/heads/*:refs/heads/*",
    "remote.origin.tagOpt": "--tags",
    "remote.origin.prune": "true",
    "remote.origin.pruneTags": "true",
    "remote.pushDefault": "nowhere",
    "branch.watercooler/threads.pushRemote": "nowhere",
    "fetch.prune": "true",
    "fetch.recurseSubmodules": "true",
    "push.default": "nothing",
    "push.followTags": "true",
    "push.gpgSign": "true",
    "push.pushOption": "merge_request.create",
    "push.recurseSubmodules": "only",
    "transfer.credentialsInUrl": "die",
}


@pytest.fixture
def hub(machine: Machine) -> Hub:
    return Hub(machine)


@pytest.fixture
def clone(hub: Hub) -> Clone:
    return Clone(hub.machine, "one", str(hub.path))


def test_no_setting_of_the_user_moves_anything_else(hub: Hub, clone: Clone) -> None:
    other = Clone(hub.machine, "two", str(hub.path))
    theirs = other.commit()
    other.git("push", "-q", "origin", f"{theirs}:refs/heads/fix", f"{theirs}:{REF}")
    first = clone.commit(text="mine\n")
    for name in ("refs/heads/main", "refs/heads/fix", "refs/tags/v1"):
        clone.git("update-ref", name, first)
    before, there = clone.refs, hub.refs
    for key, value in IN_THE_WAY.items():
        clone.git("config", key, value)
    assert clone.wire().fetch() == theirs
    assert clone.refs == {**before, TRACKING: theirs}
    merged = clone.commit(theirs, first, text="both\n")
    clone.git("tag", "-a", "-m", "v2", "v2", merged)
    before = clone.refs
    clone.wire().push(merged)
    assert hub.refs == {**there, REF: merged}
    assert clone.refs == {**before, TRACKING: merged}
    with pytest.raises(RejectedError):
        clone.wire().push(first)
    assert not (clone.path / ".git/FETCH_HEAD").exists()


def test_a_mirror_does_not_overwrite_the_branch_of_its_own_store(
    clone: Clone,
) -> None:
    first = clone.commit()
    mine, theirs = (clone.commit(first, text=text) for text in ("mine\n", "other\n"))
    clone.git("update-ref", REF, mine)
    clone.git("config", "remote.origin.fetch", "+refs/heads/*:refs/heads/*")
    clone.wire().push(first)
    assert clone.refs == {REF: mine, TRACKING: first}
    clone.wire().push(theirs)
    assert clone.wire().fetch() == theirs
    assert clone.refs == {REF: mine, TRACKING: theirs}


@pytest.mark.parametrize(
    "how",
    [
        ["--depth=1"],
        ["--depth=1", "--no-single-branch"],
        ["--single-branch"],
        ["--single-branch", "--filter=blob:none"],
        ["--filter=blob:none"],
    ],
)
def test_a_clone_of_a_part_gets_all_that_is_new(
    hub: Hub, clone: Clone, how: list[str]
) -> None:
    code, first = clone.commit(text="code\n"), clone.commit()
    clone.git("push", "-q", "origin", f"{code}:refs/heads/main", f"{first}:{REF}")
    path = clone.path.with_name("part")
    words = ["clone", "-q", "-b", "main", *how, f"file://{hub.path}", str(path)]
    hub.machine.git(*words, cwd=hub.path)
    second = clone.commit(first, text="more\n")
    clone.wire().push(second)
    part = Clone(hub.machine, "part")
    assert part.wire().fetch() == second
    words = ["rev-list", "--objects", "--missing=print", f"^{first}", second]
    assert "?" not in part.git(*words)
    third = part.commit(second, text="most\n")
    part.wire().push(third)
    assert hub.refs[REF] == third


@pytest.mark.parametrize("name", ["a=b", "a b", "team/a", "-x", "a.mirror", 'q"b'])
def test_a_remote_may_have_any_name(hub: Hub, clone: Clone, name: str) -> None:
    text = name.replace('"', '\\"')
    config = clone.path / ".git/config"
    with config.open("a") as file:  # without a refspec to fetch
        file.write(f'[remote "{text}"]\n\turl = {hub.path}\n\tmirror = true\n')
    first = clone.commit()
    clone.git("update-ref", "refs/heads/main", first)
    wire = clone.wire(name=name)
    wire.push(first)
    assert hub.refs == {REF: first}
    assert clone.refs[wire.remote.tracking] == first
    second = clone.commit(first, text="more\n")
    clone.git("push", "-q", str(hub.path), f"{second}:{REF}")
    assert wire.fetch() == second


def test_an_address_has_a_ref_for_where_it_is(hub: Hub, clone: Clone) -> None:
    first = clone.commit()
    wire = clone.wire({"WATERCOOLER_GIT_REPO": f"file://{hub.path}"})
    wire.push(first)
    assert clone.refs == {wire.remote.tracking: first}
    assert re.fullmatch("refs/watercooler/[0-9a-f]{16}", wire.remote.tracking)
    assert wire.fetch() == first


def test_a_relative_address_is_the_same_from_every_worktree(
    hub: Hub, clone: Clone
) -> None:
    clone.git("remote", "set-url", "origin", f"../hub/{hub.path.name}")
    first = clone.commit()
    clone.git("update-ref", REF, first)
    linked = hub.machine.home / "deep/down"
    clone.git("worktree", "add", "-q", str(linked), "watercooler/threads")
    Clone(hub.machine, "home/deep/down").wire().push(first)
    assert hub.refs == {REF: first}


def test_a_remote_that_goes_by_another_address_does(hub: Hub, clone: Clone) -> None:
    clone.git("remote", "set-url", "origin", "https://example.org/threads.git")
    clone.git("config", f"url.{hub.path.parent}/.insteadOf", "https://example.org/")
    first = clone.commit()
    clone.wire().push(first)
    assert hub.refs == {REF: first}


@pytest.mark.parametrize("commit", ["", "+" + "1" * 40, "HEAD", "1" * 39])
def test_only_a_whole_id_of_a_commit_is_pushed(clone: Clone, commit: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(commit)}$"):
        clone.wire().push(commit)


def test_a_commit_that_is_not_there_is_a_fault_of_ours(clone: Clone) -> None:
    with pytest.raises(WireError) as caught:
        clone.wire().push("1" * 40)
    assert type(caught.value) is WireError


@pytest.mark.parametrize("is_packed", [False, True])
def test_a_ref_in_the_way_is_named(hub: Hub, clone: Clone, *, is_packed: bool) -> None:
    first = clone.commit()
    clone.git("push", "-q", str(hub.path), f"{first}:{REF}")
    clone.git("update-ref", "refs/remotes/origin/watercooler", first)
    if is_packed:  # as in a new clone
        clone.git("pack-refs", "--all")
    with pytest.raises(WireError, match="refs/remotes/origin/watercooler") as caught:
        clone.wire().fetch()
    assert caught.value.hint == "Run: git remote prune origin"


# --- ssh -------------------------------------------------------------------------


def programs_of(machine: Machine) -> Path:
    """Kinds of ssh that say with which words they were started."""
    folder = machine.root / "a bin"
    folder.mkdir()
    for name in ("ssh", "plink", "wrapper"):
        text = (
            '#!/bin/sh\n[ "$2" = -G ] || printf "%s\\n" "$0" "$@" >"$0.said"\nexit 1\n'
        )
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)
    return folder


@pytest.mark.parametrize(
    "case",
    [
        ({}, "", "ssh", True),
        ({"GIT_SSH_COMMAND": "ssh -4"}, "wrapper", "ssh", True),
        ({"GIT_SSH": "{bin}/wrapper"}, "", "wrapper", False),
        ({"GIT_SSH": "{bin}/ssh"}, "", "ssh", True),
        ({}, "'{bin}/ssh' -4", "ssh", True),
        ({"GIT_SSH": "plink"}, "ssh", "ssh", True),
        ({"GIT_SSH_COMMAND": "plink"}, "ssh", "plink", False),
        ({"GIT_SSH_COMMAND": "'{bin}/wrapper'"}, "", "wrapper", False),
        ({"GIT_SSH": "wrapper", "GIT_SSH_VARIANT": "ssh"}, "", "wrapper", True),
        ({"GIT_SSH_VARIANT": "simple"}, "", "ssh", False),
    ],
)
def test_the_ssh_of_the_user_is_told_not_to_ask(
    machine: Machine, case: tuple[dict[str, str], str, str, bool]
) -> None:
    env, config, program, ours = case
    programs = programs_of(machine)
    clone = Clone(machine, "one", "ssh://pat@host/x.git")
    if config:
        clone.git("config", "core.sshCommand", config.format(bin=programs))
    given = {name: text.format(bin=programs) for name, text in env.items()}
    given["PATH"] = f"{programs}:{machine.env['PATH']}"
    with pytest.raises(UnreachableError):
        clone.wire(given).fetch()
    (said,) = programs.glob("*.said")
    assert said.stem == program
    words = said.read_text().splitlines()
    assert "pat@host" in words
    assert ("BatchMode=yes" in words) is ours


def test_the_key_of_the_user_is_the_only_one(machine: Machine) -> None:
    programs = programs_of(machine)
    key = machine.home / "a 'key' \"of\" $mine"
    key.touch()
    clone = Clone(machine, "one", "ssh://pat@host/x.git")
    env = {"PATH": f"{programs}:{machine.env['PATH']}"}
    for said in (str(key), f"~/{key.name}"):
        with pytest.raises(UnreachableError):
            clone.wire({**env, "WATERCOOLER_GIT_SSH_KEY": said}).fetch()
        words = (programs / "ssh.said").read_text().splitlines()
        assert words[1:5] == ["-i", str(key), "-o", "IdentitiesOnly=yes"]
    env |= {"GIT_SSH": str(programs / "plink"), "WATERCOOLER_GIT_SSH_KEY": str(key)}
    with pytest.raises(UnreachableError):
        clone.wire(env).fetch()
    words = (programs / "plink.said").read_text().splitlines()
    assert words[1:3] == ["-i", str(key)]
    assert "-o" not in words


@pytest.mark.parametrize("key", ["~/nowhere", "/dev/null/x"])
def test_a_key_that_is_not_there_is_reported(clone: Clone, key: str) -> None:
    with pytest.raises(WireError, match="WATERCOOLER_GIT_SSH_KEY") as caught:
        clone.wire({"WATERCOOLER_GIT_SSH_KEY": key}).fetch()
    assert "private key" in caught.value.hint


def test_what_stays_on_does_not_keep_our_lock(machine: Machine) -> None:
    kept = machine.root / "kept"
    read, write = os.pipe()
    try:
        script = machine.root / "helper"
        script.write_text(f"#!/bin/sh\n{{ : >&{write}; }} 2>/dev/null && : >'{kept}'\n")
        script.chmod(0o755)
        clone = Clone(machine, "one", "ssh://host/x.git")
        git = Git(
            str(clone.path), {**machine.env, "GIT_SSH": str(script)}, handle=write
        )
        usual = clone.wire()
        wire = Wire(git, usual.remote, usual.repository)
        with pytest.raises(UnreachableError):
            wire.fetch()
        assert git.handle == write
        assert not kept.exists()
    finally:
        os.close(read)
        os.close(write)


def test_a_git_that_is_ended_removes_its_locks(clone: Clone) -> None:
    commit = clone.commit()
    hooks = clone.path.with_name("hooks")
    hooks.mkdir()
    script = '#!/bin/sh\n[ "$1" = prepared ] || exit 0\n: >locked\nexec sleep 60\n'
    (hooks / "reference-transaction").write_text(script)
    (hooks / "reference-transaction").chmod(0o755)
    git = Git(str(clone.path), clone.machine.env)
    git.until = 0.0
    with pytest.raises(GitTimeoutError, match="no time left for git version"):
        git.run("version")
    git.until = time.monotonic() + 0.6
    with pytest.raises(
        GitTimeoutError, match=r"git update-ref took longer than 0\.6 s"
    ):
        git.run("-c", f"core.hooksPath={hooks}", "update-ref", REF, commit)
    assert (clone.path / "locked").exists()
    assert not list((clone.path / ".git").rglob("*.lock"))
    assert clone.refs == {}


# --- what git says ---------------------------------------------------------------

HANG_UP = (
    "fatal: Could not read from remote repository.\n\nPlease make sure you have the "
    "correct access rights\nand the repository exists.\n"
)
DENIED = "!\tabc:refs/heads/watercooler/threads\t[remote rejected] ({})\nDone\n"


@pytest.mark.parametrize(
    ("err", "kind", "hint"),
    [
        (
            f"ERROR: Repository not found.\n{HANG_UP}",
            UnreachableError,
            "address",
        ),
        (
            f"ERROR: Permission to pat/x.git denied to sam.\n{HANG_UP}",
            RefusedError,
            "permission",
        ),
        (
            (f"ERROR: The key you are authenticating with has been marked as read only."
            f"\n{HANG_UP}"),
            RefusedError,
            "permission",
        ),
        (
            f"git@h: Permission denied (publickey,keyboard-interactive).\n{HANG_UP}",
            RefusedError,
            "ssh-add",
        ),
        (f"kex_exchange_identification: read: Connection reset by peer\n{HANG_UP}",
         UnreachableError, "later"),
        (f"ssh: Could not resolve hostname h: Name or service not known\n{HANG_UP}",
         UnreachableError, "later"),
        ((f"No ED25519 host key is known for h and you have requested strict checking."
         f"\nHost key verification failed.\n{HANG_UP}"), UnreachableError, "by hand"),
        (("fatal: unable to access 'h': SSL certificate problem: certificate "
         "has expired\n"), UnreachableError, "certificate"),
        (("fatal: unable to access 'h': server certificate verification failed."
         " CAfile: none CRLfile: none\n"), UnreachableError, "certificate"),
        ("fatal: unable to access 'h': The requested URL returned error: 407\n",
         UnreachableError, "later"),
        (("error: RPC failed; HTTP 502 curl 22 The URL returned error: 502\n"
         "send-pack: unexpected disconnect while reading sideband packet\n"
         "fatal: the remote end hung up unexpectedly\n"), UnreachableError, "later"),
        (("error: RPC failed; HTTP 413 curl 22 The URL returned error: 413\n"
         "fatal: the remote end hung up unexpectedly\n"), RefusedError, "permission"),
        ("fatal: could not read Username for 'https://h': terminal prompts disabled\n",
         RefusedError, "Log in"),
        (("remote: HTTP Basic: Access denied\nfatal: Authentication failed for "
         "'https://h/'\n"), RefusedError, "Log in"),
        ("fatal: remote error: access denied or repository not exported: /x\n",
         UnreachableError, "address"),
        ("fatal: remote error: service not enabled: /x\n", RefusedError, "permission"),
        ("fatal: detected dubious ownership in repository at '/srv/x.git'\n" + HANG_UP,
         RefusedError, "safe.directory"),
        (("error: cannot lock ref 'refs/remotes/origin/watercooler/threads': Unable to "
         "create '/x/threads.lock': Permission denied\n"), WireError, "doctor"),
        (("error: insufficient permission for adding an object to repository database "
         ".git/objects\nfatal: failed to write object\n"), WireError, "doctor"),
        ("fatal: write error: No space left on device\nfatal: index-pack failed\n",
         WireError, "doctor"),
        ("fatal: bad config line 1 in file .git/config\n", WireError, "git fetch"),
        ("BUG: remote.c:1: what\n", WireError, "git fetch"),
        ("", WireError, "git fetch"),
    ],
)  # fmt: skip
def test_words_of_git_are_sorted(err: str, kind: type[WireError], hint: str) -> None:
    remote = Remote("origin", "origin", TRACKING)
    found = classify(GitError("it failed", b"", err.encode()), remote, {})
    assert type(found) is kind
    assert hint in found.hint
    assert str(found).startswith("origin: ")


@pytest.mark.parametrize(
    ("reason", "err", "kind", "words"),
    [
        ("failed to update ref",
         "remote: error: cannot lock ref 'refs/heads/x': is at 1 but expected 2",
         RejectedError, "changed in the mean"),
        ("reference already exists", "", RejectedError, "changed in the mean"),
        ("incorrect old value provided", "", RejectedError, "changed in the mean"),
        ("failed to update ref",
         ("remote: error: cannot lock ref 'refs/heads/x': Unable to create "
         "'/srv/x.lock': File exists."), RejectedError, "changed in the mean"),
        ("protected branch hook declined",
         ("remote: error: GH006: Protected branch update failed for refs/heads/x.\n"
         "remote: error: At least 1 approving review is required"),
         DeclinedError, "GH006: Protected branch update failed"),
        ("pre-receive hook declined",
         "remote: \nremote: GitLab: You are not allowed to push code.",
         DeclinedError, "declined: GitLab: You are not allowed"),
        ("pre-receive hook declined", "", DeclinedError, "refused: pre-receive hook"),
    ],
)  # fmt: skip
def test_reasons_of_the_remote_are_sorted(
    reason: str, err: str, kind: type[WireError], words: str
) -> None:
    remote = Remote("origin", "origin", TRACKING)
    out = f"To https://h/x\n{DENIED.format(reason)}"
    found = classify(GitError("no", out.encode(), err.encode()), remote, {})
    assert type(found) is kind
    assert words in str(found)


def test_reports_have_no_secrets_and_no_home() -> None:
    remote = Remote("origin", "origin", TRACKING)
    err = "fatal: repository '/home/pat/x' or https://u:p@h/x?t=1 not found \x1b[1m\n"
    found = classify(GitError("", b"", err.encode()), remote, {"HOME": "/home/pat"})
    assert "'~/x' or https://h/x not found" in str(found)
    assert "\x1b" not in str(found)
