"""Signed claims: who signs with which key, whose claims count, and what is remembered.

The keys are real ones of ssh-keygen; gpg's are made once for the module.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.cli.claims.test_claims_between_clones import Clones
from tests.contract.inprocess import Here
from tests.observe.stores import Session

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from tests.conftest import Machine

CODEX, CLAUDE = ("--as", "Codex"), ("--as", "Claude Code")
SIGNED = '[claims]\nverify = "signed"\n'


def make_key(path: Path) -> str:
    """Make a key of ssh. Returns its public part."""
    words = ("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(path))
    subprocess.run(words, check=True, stdin=subprocess.DEVNULL)
    return " ".join(path.with_suffix(".pub").read_text().split()[:2])


def sign_with(repo: Here, key: str) -> dict[str, str]:
    """The environment of someone who signs with a key of ssh."""
    settings = {
        "gpg.format": "ssh",
        "user.signingKey": str(repo.machine.root / f"{key}.pub"),
    }
    variables = {"GIT_CONFIG_COUNT": str(len(settings))}
    for number, (name, value) in enumerate(settings.items()):
        variables[f"GIT_CONFIG_KEY_{number}"] = name
        variables[f"GIT_CONFIG_VALUE_{number}"] = value
    return variables


@pytest.fixture
def repo(machine: Machine) -> Here:
    """A repository where claims must be signed. Pat and Ann may sign, Eve may not."""
    repo = Here(machine, machine.repo().path)
    repo.ok("init")
    keys = {name: make_key(machine.root / name) for name in ("pat", "ann", "eve")}
    signers = f'pat@example.org {keys["pat"]}\n"Ann" {keys["ann"]}\n'
    (repo.store / "allowed_signers").write_text(signers)
    (repo.store / "config.toml").write_text(SIGNED)
    machine.env.update(sign_with(repo, "pat"))
    return repo


@pytest.fixture
def login(repo: Here) -> Here:
    return repo.worktree("app-wt-login")


@pytest.fixture
def review(repo: Here) -> Here:
    return repo.worktree("app-wt-review")


def verdict(repo: Here, *words: str, env: Mapping[str, str] | None = None) -> str:
    """The first line of what wc check says."""
    return repo.wc("check", *words, env=env).out.partition("\n")[0]


@pytest.fixture
def clones(tmp_path: Path) -> Clones:
    return Clones(tmp_path)


def standings(repo: Here) -> dict[str, tuple[str, str | None]]:
    rows = repo.json("claims")["claims"]
    return {row["id"]: (row["standing"], row["refusal"]) for row in rows}


def forge(repo: Here, ref: str, old: str, new: str, *, signed_by: str = "") -> None:
    """Replace a claim by one with another text, signed by a key or not at all."""
    commit = repo.git("cat-file", "commit", ref)
    message = commit.partition("\n\n")[2].replace(old, new)
    tree = repo.git("hash-object", "-t", "tree", "-w", os.devnull).strip()
    env = {**repo.machine.env, **(sign_with(repo, signed_by) if signed_by else {})}
    sign = ["-S"] if signed_by else []
    done = subprocess.run(
        ["git", "commit-tree", *sign, tree],
        cwd=repo.path,
        env=env,
        input=message.encode(),
        stdout=subprocess.PIPE,
        check=True,
    )
    repo.git("update-ref", ref, done.stdout.decode().strip())


def ref_of(repo: Here) -> str:
    return repo.git("for-each-ref", "--format=%(refname)", "refs/wc/claims").strip()


def test_a_signed_claim_holds_others_off(login: Here, review: Here) -> None:
    login.ok("claim", "src/a.py", *CODEX)
    login.git("-c", allowed(login), "verify-commit", ref_of(login))
    assert "Codex@login (Pat) edits" in review.fails(20, "claim", "src", *CLAUDE)
    assert verdict(review, "src/a.py", *CLAUDE) == "SWITCH_TASK"
    assert standings(login) == {"src/a.py": ("held", None)}
    login.ok("renew", *CODEX)
    login.git("-c", allowed(login), "verify-commit", ref_of(login))
    assert standings(review) == {"src/a.py": ("held", None)}
    login.ok("release", "--all", *CODEX)
    review.ok("claim", "src", *CLAUDE)


def allowed(repo: Here) -> str:
    return f"gpg.ssh.allowedSignersFile={repo.store}/allowed_signers"


def test_the_claims_of_a_set_are_all_signed(login: Here) -> None:
    login.ok("claim", "a.py", "b.py", "c/d.py", *CODEX)
    refs = ref_of(login).split()
    assert len(refs) == 3
    login.git("-c", allowed(login), "verify-commit", *refs)


@pytest.mark.parametrize(
    ("signed_by", "refusal"),
    [
        ("", "it is not signed"),
        ("eve", "it is signed by a key that is not among the allowed signers"),
        ("ann", "it is signed by Ann, not by Pat"),
    ],
)
def test_a_spoofed_holder_is_refused_and_named(
    login: Here, review: Here, signed_by: str, refusal: str
) -> None:
    login.ok("claim", "src/a.py", *CODEX)
    forge(login, ref_of(login), "never", "never", signed_by=signed_by)
    assert standings(review) == {"src/a.py": ("refused", refusal)}
    assert f"refused: {refusal}" in review.ok("claims").out
    answer = review.json("check", "src/a.py", *CLAUDE)
    assert answer["verdict"] == "PROCEED"
    codes = {reason["code"] for reason in answer["reasons"]}
    assert codes - {"GRAPH_UNAVAILABLE"} == {"FREE", "UNTRUSTED"}
    text = f"The claim of Codex@login (Pat) on src/a.py does not count: {refusal}."
    assert answer["warnings"] == [text]
    assert answer["status"] == "OK"
    assert answer["orchestration"]["metadata"]["lock_owner"] is None
    review.ok("claim", "src/a.py", *CLAUDE)
    assert standings(review) == {"src/a.py": ("held", None)}


def test_what_is_refused_here_stays_for_those_who_know_its_signer(
    login: Here, review: Here
) -> None:
    login.ok("claim", "src/a.py", *CODEX)
    forge(login, ref_of(login), "never", "never", signed_by="eve")
    review.ok("claim", "src", *CLAUDE)
    assert set(standings(review)) == {"src/a.py", "src"}
    review.ok("takeover", "src", "--reason", "tidy up", *CLAUDE)
    assert set(standings(review)) == {"src"}


def test_nobody_renews_what_was_forged_in_their_name(login: Here) -> None:
    login.ok("claim", "a.py", *CODEX)
    ref = ref_of(login)
    forge(login, ref, "never", "never", signed_by="eve")
    forged = login.git("rev-parse", ref)
    assert login.json("renew", *CODEX)["renewed"] == []
    login.ok("say", "t", "--title", "x", *CODEX)
    assert login.git("rev-parse", ref) == forged
    assert verdict(login, "a.py", *CODEX) == "STOP"
    assert login.json("release", "a.py", *CODEX) == {"released": ["a.py"]}
    assert standings(login) == {}


def test_the_person_of_the_claim_must_have_signed_it(login: Here) -> None:
    env = sign_with(login, "ann")
    problem = login.fails(7, "claim", "a.py", *CODEX, env=env)
    assert "would not count: it is signed by Ann, not by Pat" in problem
    assert f"{login.store}/allowed_signers" in problem
    assert standings(login) == {}
    login.ok("claim", "a.py", "--as", "Codex@login (ann)", env=env)
    assert standings(login) == {"a.py": ("held", None)}


def test_without_a_key_nothing_is_claimed(login: Here) -> None:
    problem = login.fails(7, "claim", "a.py", *CODEX, env={"GIT_CONFIG_COUNT": "1"})
    assert "git could not sign" in problem
    assert "git config user.signingKey" in problem
    assert ref_of(login) == ""
    missing = sign_with(login, "nobody")
    login.fails(7, "claim", "a.py", *CODEX, env=missing)
    assert ref_of(login) == ""


def test_each_commit_is_verified_once(login: Here, review: Here) -> None:
    login.ok("claim", "a.py", *CODEX)
    folder = login.machine.root / "no-ssh-keygen"
    folder.mkdir()
    git = shutil.which("git")
    assert git is not None
    (folder / "git").symlink_to(git)
    path = {"PATH": str(folder)}
    assert verdict(review, "a.py", *CLAUDE, env=path) == "SWITCH_TASK"
    login.git("pack-refs", "--all")
    assert verdict(review, "a.py", *CLAUDE, env=path) == "SWITCH_TASK"


def test_a_change_of_the_signers_counts_at_once(login: Here, review: Here) -> None:
    login.ok("claim", "a.py", *CODEX)
    assert standings(review)["a.py"][0] == "held"
    signers = login.store / "allowed_signers"
    before = signers.read_text()
    signers.write_text(before.partition("\n")[2])
    assert standings(review)["a.py"][0] == "refused"
    signers.write_text(before)
    assert standings(review)["a.py"][0] == "held"


def test_gits_own_file_of_signers_is_used(login: Here, review: Here) -> None:
    signers = login.store / "allowed_signers"
    own = login.machine.root / "own_signers"
    login.ok("claim", "a.py", *CODEX)
    signers.rename(own)
    refusal = standings(review)["a.py"][1]
    assert refusal is not None
    assert refusal.endswith("git has no allowed_signers to check it with")
    login.git("config", "gpg.ssh.allowedSignersFile", str(own))
    assert standings(review)["a.py"] == ("held", None)


def test_turning_it_on_asks_for_a_new_claim(login: Here, review: Here) -> None:
    config = login.store / "config.toml"
    config.write_text("")
    login.ok("claim", "a.py", *CODEX)
    assert not login.git("cat-file", "commit", ref_of(login)).count("gpgsig")
    config.write_text(SIGNED)
    assert standings(review)["a.py"] == ("refused", "it is not signed")
    assert verdict(login, "a.py", *CODEX) == "STOP"
    login.ok("claim", "a.py", *CODEX)
    login.ok("check", "a.py", *CODEX)
    assert standings(review)["a.py"] == ("held", None)


def test_the_signers_travel_with_the_store(repo: Here) -> None:
    repo.settled("say", "t", "--title", "x", *CODEX)
    names = repo.git("ls-tree", "--name-only", "watercooler/threads").split()
    assert "allowed_signers" in names


@pytest.fixture(scope="module")
def gnupg(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A keyring with the key of Pat, which it trusts."""
    if shutil.which("gpg") is None:
        pytest.skip("gpg is not installed")
    home = tmp_path_factory.mktemp("g")
    home.chmod(0o700)
    env = {**os.environ, "GNUPGHOME": str(home)}
    words = ("gpg", "--batch", "--quiet", "--passphrase", "", "--quick-gen-key")
    subprocess.run((*words, "Pat <pat@example.org>"), check=True, env=env)
    yield home
    subprocess.run(("gpgconf", "--kill", "all"), check=True, env=env)


def test_a_key_of_gpg(login: Here, review: Here, gnupg: Path) -> None:
    login.machine.env["GNUPGHOME"] = str(gnupg)
    env = {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "user.signingKey"}
    env |= {"GIT_CONFIG_VALUE_0": "pat@example.org"}
    login.ok("claim", "a.py", *CODEX, env=env)
    assert standings(review) == {"a.py": ("held", None)}
    login.fails(7, "claim", "b.py", "--as", "Codex@login (Ann)", env=env)
    index = login.store / ".local/claims/index.json"
    index.unlink()
    login.machine.env["GNUPGHOME"] = str(login.machine.root)
    status = standings(review)["a.py"]
    assert status[0] == "refused"
    assert "the key is not known here" in str(status[1])
    assert json.loads(index.read_text())["checks"]


def test_the_server_reads_what_was_verified(login: Here, review: Here) -> None:
    login.ok("claim", "a.py", *CODEX)
    env = {**review.machine.env, "WATERCOOLER_AGENT": "Claude Code"}
    session = Session(review.path, env)

    def answer() -> tuple[str, str, str]:
        status = session.json("check_status", symbols=["a.py"])
        (listed,) = session.json("list_edits")["claims"]
        first = status["reasons"][0]["code"]
        return status["verdict"], first, listed["standing"]

    assert answer() == ("SWITCH_TASK", "DIRECT_WRITE", "held")
    index = login.store / ".local/claims/index.json"
    index.unlink()
    assert answer() == ("WAIT", "UNVERIFIED", "unverified")
    assert (
        "its signature is not verified"
        in " ".join(session.json("check_status", symbols=["a.py"])["warnings"]).lower()
    )
    review.ok("claims")
    assert answer() == ("SWITCH_TASK", "DIRECT_WRITE", "held")
    forge(login, ref_of(login), "never", "never", signed_by="eve")
    assert answer() == ("WAIT", "UNVERIFIED", "unverified")
    review.ok("claims")
    assert answer() == ("PROCEED", "FREE", "refused")
    assert "not among the allowed signers" in session.text("list_edits")
    (login.store / "allowed_signers").write_text("")
    assert answer() == ("WAIT", "UNVERIFIED", "unverified")


def test_between_clones_only_signed_claims_count(clones: Clones) -> None:
    pat, sam = clones.pat, clones.sam
    signers = ""
    for repo in (pat, sam):
        name = repo.path.parent.name
        key = make_key(repo.machine.root / "key")
        repo.machine.env.update(sign_with(repo, "key"))
        signers += f"{name}@example.org {key}\n"
    (pat.store / "allowed_signers").write_text(signers)
    (pat.store / "config.toml").write_text(SIGNED)
    pat.ok("say", "auth", "--title", "signed from now on")
    pat.ok("sync")
    sam.ok("sync")
    assert (sam.store / "allowed_signers").read_text() == signers
    pat.ok("claim", "a.py", *CODEX)
    sam.fails(20, "claim", "a.py", *CLAUDE)
    # Sam says that Pat's agent has claimed it: with his own key.
    forge(sam, ref_of(sam), '"nonce":"', '"nonce":"0', signed_by="key")
    sam.git("push", "-q", "--force", "origin", "refs/wc/claims/*:refs/wc/claims/*")
    pat.ok("sync")
    ((standing, refusal),) = standings(pat).values()
    assert standing == "refused"
    assert refusal == "it is signed by Sam@example.org, not by Pat"
