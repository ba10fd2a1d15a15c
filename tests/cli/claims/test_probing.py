"""``wc doctor`` says whether claims hold between clones, after it has tried."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.cli.claims.test_claims_between_clones import Clones
from tests.cli.claims.test_combined_claims import (
    BRANCH,
    HIDDEN,
    HOOK,
    NOT_ATOMIC,
    refuse,
    set_in,
)
from wc_core.base.layout import Layout

if TYPE_CHECKING:
    from tests.contract.inprocess import Here

CODEX, GEMINI = ("--as", "Codex"), ("--as", "Gemini")
PLACE = "in the branch watercooler/claims"
FIRST = " that the first one makes"


@pytest.fixture
def clones(tmp_path: Path) -> Clones:
    return Clones(tmp_path)


def note(repo: Here, **env: str) -> str:
    """What doctor says about claims between clones."""
    done = repo.wc("doctor", "--json", env=env)
    assert (done.code, done.json["findings"]) == (0, [])
    notes: list[str] = [text for text in done.json["notes"] if "between" in text]
    return "".join(notes)


def test_a_remote_that_takes_claims(clones: Clones) -> None:
    clones.pat.ok("claim", "a.py", *CODEX)
    before, own = clones.refs("refs"), clones.pat.git("for-each-ref")
    expected = "claims hold between clones: origin takes refs/wc and atomic pushes"
    assert note(clones.pat) == expected
    assert clones.refs("refs") == before
    assert clones.pat.git("for-each-ref") == own


@pytest.mark.parametrize(
    ("refusal", "reason"),
    [
        (HOOK, "origin refused: pre-receive hook declined: no refs/wc/probe/1 here"),
        (HIDDEN, "origin refused: deny updating a hidden ref"),
    ],
)
def test_a_remote_that_takes_only_branches(
    clones: Clones, refusal: str, reason: str
) -> None:
    refuse(clones, refusal)
    before = clones.refs("refs")
    expected = f"claims hold between clones, {PLACE}{FIRST}: {reason}"
    assert note(clones.pat) == expected
    assert clones.refs("refs") == before
    clones.pat.ok("claim", "a.py", *CODEX)
    expected = f"claims hold between clones, {PLACE}: {reason}"
    assert note(clones.pat) == expected


def test_a_remote_that_takes_no_atomic_pushes(clones: Clones) -> None:
    refuse(clones, NOT_ATOMIC)
    before = clones.refs("refs")
    advisory = (
        f"claims are advisory between clones, {PLACE}%s: origin does not take atomic "
        "pushes, so git cannot refuse a push by someone who has lost a claim"
    )
    assert note(clones.pat) == advisory % FIRST
    assert clones.refs("refs") == before
    clones.pat.ok("claim", "a.py", *CODEX)
    assert note(clones.pat) == advisory % ""


def test_a_remote_that_takes_several_refs_by_now(clones: Clones) -> None:
    refuse(clones, NOT_ATOMIC)
    clones.pat.ok("claim", "a.py", *CODEX)
    refuse(clones, HIDDEN)
    set_in(clones, "receive.advertiseAtomic", "true")
    assert "origin takes atomic pushes by now" in note(clones.pat)


def test_a_remote_that_takes_them_by_now(clones: Clones) -> None:
    refuse(clones, HOOK)
    clones.pat.ok("claim", "a.py", *CODEX)
    clones.hook("pre-receive", "")
    text = note(clones.pat)
    assert "origin takes refs/wc by now" in text
    assert "git push origin --delete watercooler/claims" in text
    clones.pat.ok("release", "--all", *CODEX)
    set_in(clones, "receive.denyDeletes", "false")
    clones.pat.git("push", "-q", "origin", "--delete", "watercooler/claims")
    clones.pat.ok("claim", "b.py", *CODEX)
    assert len(clones.refs()) == 1
    assert clones.refs(BRANCH) == {}
    clones.sam.fails(20, "claim", "b.py", *GEMINI)


def test_a_remote_that_refused_is_tried_again(clones: Clones) -> None:
    clones.hook("update", "exit 1")
    assert "only this clone" in clones.pat.ok("claim", "a.py", *CODEX).err
    clones.hook("update", "")
    assert "only this clone" in clones.pat.ok("claim", "b.py", *CODEX).err
    note(clones.pat)
    assert "only this clone" not in clones.pat.ok("claim", "c.py", *CODEX).err
    assert clones.refs() != {}


def test_a_remote_that_is_not_reached(clones: Clones) -> None:
    clones.hub.rename(clones.hub.with_name("away.git"))
    text = note(clones.pat)
    assert text.startswith(
        "it is not known whether claims hold between clones: origin: "
    )


def test_a_remote_that_nothing_goes_to_is_not_asked(clones: Clones) -> None:
    clones.hook("update", 'echo "$1" >> pushed')
    for name in ("WATERCOOLER_PUSH", "WATERCOOLER_SYNC"):
        assert note(clones.pat, **{name: "off"}) == ""
    assert not (clones.hub / "pushed").exists()


def test_what_a_killed_probe_left_is_removed(clones: Clones) -> None:
    head = clones.pat.git("rev-parse", "HEAD")
    clones.pat.git("push", "-q", "origin", f"{head}:refs/wc/probe/1")
    assert "origin takes refs/wc" in note(clones.pat)
    assert clones.refs("refs/wc") == {}


def test_probes_disturb_neither_each_other_nor_claims(clones: Clones) -> None:
    words = [sys.executable, "-m", "wc_cli", "doctor"]
    probes = [
        subprocess.Popen(
            words,
            cwd=repo.path,
            env=repo.machine.env,
            stdout=subprocess.PIPE,
            text=True,
        )
        for repo in (clones.pat, clones.sam) * 3
    ]
    clones.pat.ok("claim", "a.py", *CODEX)
    outputs = [process.communicate()[0] for process in probes]
    assert len(clones.refs()) == 1
    assert list(clones.refs("refs/wc/probe")) == []
    assert all("origin takes refs/wc" in text for text in outputs), outputs


@pytest.mark.parametrize(
    ("install", "words"),
    [(False, "advisory (advise): Claude Code ("), (True, "guarded (advise): Claude")],
)
def test_doctor_says_whether_edits_are_guarded(
    clones: Clones,
    install: bool,  # noqa: FBT001
    words: str,
) -> None:
    if install:
        trace = Path(Layout(str(clones.pat.store)).guard_trace("claude"))
        trace.parent.mkdir()
        trace.touch()
    else:
        clones.pat.ok("claim", "a.py", "--as", "Claude")
    assert f"note: edits: {words}" in clones.pat.ok("doctor", "--all").out
