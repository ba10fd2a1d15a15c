"""Claims at a remote that takes no refs of ours, or no atomic pushes: one branch there
has them all."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest

from tests import amounts
from tests.cli.claims.test_claim_races import race, start
from tests.cli.claims.test_claims_between_clones import (
    RACERS,
    Clones,
    commit,
    faster,
    holders,
)
from wc_core.base.layout import CLAIMS_BRANCH

if TYPE_CHECKING:
    from pathlib import Path

CODEX, GEMINI = ("--as", "Codex"), ("--as", "Gemini")
BRANCH = f"refs/heads/{CLAIMS_BRANCH}"
ONLY_BRANCHES = """
while read old new ref; do
    echo "$ref" >> pushed
    case "$ref" in refs/heads/*) ;; *) echo "no $ref here" >&2; exit 1;; esac
done
"""
NOT_ATOMIC, HOOK, HIDDEN = "not atomic", "hook", "hidden"
REFUSALS = [NOT_ATOMIC, HOOK, HIDDEN]


def refuse(clones: Clones, refusal: str) -> None:
    """Let the remote refuse what claims need. It protects its branches as well."""
    settings = {
        NOT_ATOMIC: ("receive.advertiseAtomic", "false"),
        HIDDEN: ("transfer.hideRefs", "refs/wc"),
    }
    if refusal == HOOK:
        clones.hook("pre-receive", ONLY_BRANCHES)
    else:
        set_in(clones, *settings[refusal])
    set_in(clones, "receive.denyNonFastForwards", "true")
    set_in(clones, "receive.denyDeletes", "true")


def set_in(clones: Clones, *words: str) -> None:
    """Configure the remote."""
    clones.pat.machine.git("config", *words, cwd=clones.hub)


@pytest.fixture
def clones(tmp_path: Path) -> Clones:
    return Clones(tmp_path)


@pytest.mark.parametrize("refusal", REFUSALS)
def test_claims_hold_between_clones(clones: Clones, refusal: str) -> None:
    refuse(clones, refusal)
    done = clones.pat.ok("claim", "src/a.py", "b.py", *CODEX)
    assert ("advisory" in done.err) is (refusal == NOT_ATOMIC)
    assert "Codex (Pat) edits src/a.py" in clones.sam.fails(20, "claim", "src", *GEMINI)
    clones.sam.ok("claim", "c.py", *GEMINI)
    clones.pat.ok("renew", *CODEX)
    clones.pat.ok("release", "src/a.py", *CODEX)
    clones.sam.ok("claim", "src", *GEMINI)
    for repo in (clones.pat, clones.sam):
        repo.ok("sync")
        repo.git("gc", "--quiet", "--prune=now")
        assert holders(repo) == {
            "b.py": "Codex (Pat)",
            "c.py": "Gemini CLI (Sam)",
            "src": "Gemini CLI (Sam)",
        }
    assert clones.refs("refs/wc") == {}
    assert list(clones.refs(BRANCH)) == [BRANCH]
    # A clone that has never seen a claim.
    clones.pat.git("clone", "-q", str(clones.hub), "../new")
    new = type(clones.pat)(clones.pat.machine, clones.pat.path.parent / "new")
    assert "Gemini CLI (Sam) edits src" in new.fails(20, "claim", "src", "--as", "Ana")
    clones.pat.ok("release", "--all", *CODEX)
    clones.sam.ok("release", "--all", *GEMINI)
    message = clones.pat.machine.git("log", "-1", "--format=%B", BRANCH, cwd=clones.hub)
    expected = {"v": 1, "atomic": refusal != NOT_ATOMIC, "claims": {}}
    assert json.loads(message.splitlines()[2]) == expected


@pytest.mark.parametrize("refusal", REFUSALS)
def test_one_winner_in_each_round(clones: Clones, refusal: str) -> None:
    refuse(clones, refusal)
    pairs = enumerate((clones.pat, clones.sam) * (RACERS // 2))
    racers = [start(repo, number) for number, repo in pairs]
    shapes = ("{0}", "{0}/a.txt", "{0}/a.txt::f", "{0}/a.txt {0}")
    try:
        for number in range(amounts.rounds(2, 50)):
            lines = [shape.format(f"round{number}") for shape in shapes]
            codes = race(racers, lines * (RACERS // len(shapes)))
            assert sorted(codes) == [0] + [20] * (RACERS - 1), (number, codes)
    finally:
        for racer in racers:
            racer.communicate()
    for repo in (clones.pat, clones.sam):
        repo.ok("sync")
    assert holders(clones.pat) == holders(clones.sam)


def test_who_claims_between_our_look_and_our_push_wins(clones: Clones) -> None:
    refuse(clones, HIDDEN)
    clones.sam.ok("claim", "other.py", *GEMINI)
    flag = clones.hub / "once"
    words = f"cd {clones.sam.path} && {faster(clones)} claim src --as Gemini"
    clones.hook(
        "pre-receive",
        f"[ -e {flag} ] && exit 0; touch {flag}; unset GIT_DIR GIT_QUARANTINE_PATH "
        f"GIT_OBJECT_DIRECTORY GIT_ALTERNATE_OBJECT_DIRECTORIES; {words} >&2",
    )
    problem = clones.pat.fails(20, "claim", "src/a.py", *CODEX)
    assert "Gemini CLI (Sam) edits src" in problem
    assert holders(clones.pat).keys() == {"other.py", "src"}


@pytest.mark.parametrize("refusal", REFUSALS)
def test_publishing(clones: Clones, refusal: str) -> None:
    """Fenced where the remote takes several refs at once, otherwise advisory."""
    refuse(clones, refusal)
    clones.pat.ok("claim", "code.txt", *CODEX)
    clones.sam.ok("claim", "unrelated.py", *GEMINI)
    head = commit(clones.pat)
    answer = clones.pat.json("publish", *CODEX)
    assert answer["fenced"] is (refusal != NOT_ATOMIC)
    assert clones.refs("refs/heads/main") == {"refs/heads/main": head}
    commit(clones.pat)
    done = clones.pat.ok("publish", *CODEX)
    weakness = "advisory: origin does not take atomic pushes"
    assert (weakness in done.out) is (refusal == NOT_ATOMIC)


def test_publishing_when_the_remote_takes_several_refs_no_more(clones: Clones) -> None:
    refuse(clones, HIDDEN)
    clones.pat.ok("claim", "code.txt", *CODEX)
    assert "advisory between" not in clones.pat.ok("claims").err
    refuse(clones, NOT_ATOMIC)
    head = commit(clones.pat)
    assert clones.pat.json("publish", *CODEX)["fenced"] is False
    assert clones.refs("refs/heads/main") == {"refs/heads/main": head}
    weakness = "note: advisory between clones: origin does not take atomic pushes"
    assert weakness in clones.pat.ok("claims").err


@pytest.mark.parametrize("refusal", REFUSALS)
def test_a_zombie_publishes_nothing(clones: Clones, refusal: str) -> None:
    refuse(clones, refusal)
    clones.pat.ok("claim", "code.txt", *CODEX)
    clones.sam.ok("takeover", "code.txt", "--reason", "asleep", *GEMINI)
    before = clones.refs("refs")
    commit(clones.pat)
    problem = clones.pat.fails(21, "publish", *CODEX)
    assert "lost the claim on code.txt; Gemini CLI (Sam) has it now" in problem
    assert clones.refs("refs") == before


def test_a_branch_that_has_moved_is_not_forced(clones: Clones) -> None:
    refuse(clones, NOT_ATOMIC)
    clones.pat.ok("claim", "code.txt", *CODEX)
    commit(clones.sam, "theirs")
    clones.sam.git("push", "-q")
    commit(clones.pat, "ours")
    assert "git pull --rebase" in clones.pat.fails(4, "publish", *CODEX)
    clones.pat.git("pull", "-q", "--rebase", "-X", "theirs")
    clones.pat.ok("publish", *CODEX)


def test_what_was_made_without_the_remote_is_sent_later(clones: Clones) -> None:
    refuse(clones, HIDDEN)
    clones.sam.ok("claim", "src", *GEMINI)
    away = clones.hub.with_name("away.git")
    clones.hub.rename(away)
    clones.pat.ok("claim", "src/a.py", "b.py", "--local-only", *CODEX)
    away.rename(clones.hub)
    done = clones.pat.ok("sync")
    assert "lost the claim on src/a.py to Gemini CLI (Sam)" in done.out + done.err
    clones.sam.ok("sync")
    expected = {"src": "Gemini CLI (Sam)", "b.py": "Codex (Pat)"}
    assert holders(clones.sam) == holders(clones.pat) == expected


def test_claims_move_into_the_branch_when_the_remote_turns(clones: Clones) -> None:
    clones.pat.ok("claim", "a.py", *CODEX)
    clones.sam.ok("claim", "b.py", *GEMINI)
    refuse(clones, HOOK)
    clones.sam.ok("claim", "c.py", *GEMINI)
    clones.pat.fails(20, "claim", "c.py", *CODEX)
    assert holders(clones.pat).keys() == {"a.py", "b.py", "c.py"}
    clones.pat.ok("release", "--all", *CODEX)
    clones.sam.ok("claim", "a.py", *GEMINI)


def test_a_remote_that_refuses_both(clones: Clones) -> None:
    """Only this clone knows; the remote is not asked by every claim."""
    clones.hook("update", f'echo "$1" >> pushed; [ "$1" != {BRANCH} ]')
    set_in(clones, "transfer.hideRefs", "refs/wc")
    for name in ("a.py", "b.py"):
        done = clones.pat.ok("claim", name, *CODEX)
        assert "only this clone knows; the remote takes no claims" in done.err
    pushed = clones.hub / "pushed"
    assert pushed.read_text().split() == [BRANCH]
    assert holders(clones.pat).keys() == {"a.py", "b.py"}
    clones.pat.fails(20, "claim", "a.py", *GEMINI)
    head = commit(clones.pat)
    assert "advisory" in clones.pat.ok("publish", *CODEX).out
    assert clones.refs("refs/heads/main") == {"refs/heads/main": head}
    # After a day it is tried again.
    clones.hook("update", "")
    clones.pat.ok("claim", "c.py", *CODEX)
    assert clones.refs(BRANCH) == {}
    (note,) = (clones.pat.store / ".local/claims").glob("declined-*")
    old = note.stat().st_mtime - 25 * 3600
    os.utime(note, (old, old))
    clones.pat.ok("claim", "d.py", *CODEX)
    assert list(clones.refs(BRANCH)) == [BRANCH]
    clones.pat.ok("sync")
    clones.sam.ok("sync")
    assert holders(clones.sam).keys() == {"a.py", "b.py", "c.py", "d.py"}


def test_another_branch_of_that_name_is_left_alone(clones: Clones) -> None:
    refuse(clones, HOOK)
    clones.pat.git("push", "-q", "origin", f"main:{BRANCH}")
    before = clones.refs(BRANCH)
    done = clones.pat.ok("claim", "a.py", *CODEX)
    assert "only this clone knows" in done.err
    assert clones.refs(BRANCH) == before


@pytest.mark.parametrize("message", ["x", "claims\n\n{", 'c\n\n{"v":2,"claims":{}}'])
def test_a_branch_that_has_no_claims_is_none(clones: Clones, message: str) -> None:
    push_message(clones, message)
    clones.pat.ok("claim", "a.py", *CODEX)
    assert len(clones.refs()) == 1


def push_message(clones: Clones, message: str) -> None:
    """Put a commit with this message where the claims are."""
    words = ("commit-tree", "HEAD^{tree}", "-m", message)
    oid = clones.pat.git(*words)
    clones.pat.git("push", "-q", "origin", f"{oid}:{BRANCH}")


def test_hostile_claims_in_the_branch_hide_no_others(clones: Clones) -> None:
    """One that names commits which it does not bring, or that are not claims."""
    refuse(clones, HIDDEN)
    head = clones.pat.git("rev-parse", "HEAD")
    tree = clones.pat.git("rev-parse", "HEAD^{tree}")
    oids = ("0" * 40, "ab" * 20, head, tree)
    claims = {f"refs/wc/claims/{n:040x}": oid for n, oid in enumerate(oids)}
    text = json.dumps({"v": 1, "atomic": True, "claims": claims})
    push_message(clones, f"claims\n\n{text}")
    clones.pat.ok("claim", "a.py", *CODEX)
    clones.sam.fails(20, "claim", "a.py", *GEMINI)
    assert clones.sam.json("claims")["unreadable"] == 1
    assert holders(clones.sam) == {"a.py": "Codex (Pat)"}


def test_the_branch_is_not_a_worktree_of_others_for_the_radar(clones: Clones) -> None:
    refuse(clones, HIDDEN)
    clones.pat.ok("claim", "a.py", *CODEX)
    clones.sam.git("fetch", "-q")
    assert f"origin/{CLAIMS_BRANCH}" in clones.sam.git("branch", "-r")
    assert CLAIMS_BRANCH not in clones.sam.ok("radar", "--remote").out
