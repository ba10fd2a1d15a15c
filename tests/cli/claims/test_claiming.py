"""``wc claim`` and its family, by hand: who gets what, and what the messages say."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest

from tests.contract.inprocess import Here
from wc_cli.run import ancestors
from wc_core.edits.claims import sessions

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.conftest import Machine


@pytest.fixture
def repo(machine: Machine) -> Here:
    return Here(machine, machine.repo().path)


@pytest.fixture
def login(repo: Here) -> Here:
    return repo.worktree("app-wt-login")


@pytest.fixture
def review(repo: Here) -> Here:
    return repo.worktree("app-wt-review")


CODEX, CLAUDE = ("--as", "Codex"), ("--as", "Claude Code")


def claimed(repo: Here) -> dict[str, str]:
    """Who has claimed what."""
    return {claim["id"]: claim["holder"] for claim in repo.json("claims")["claims"]}


def test_what_does_not_exist_is_reported(login: Here) -> None:
    (login.path / "here.py").write_text("")
    done = login.ok("claim", "here.py", "gone.py", *CODEX)
    assert done.err == (
        "note: gone.py does not exist in this worktree; for something new: --new\n"
    )
    assert login.ok("claim", "soon.py", "--new", *CODEX).err == ""


def test_whose_it_was_is_reported(login: Here, review: Here) -> None:
    login.ok("claim", "src/a.py", *CODEX)
    (review.path / "b.py").write_text("")
    words = ("claim", "src", "b.py", "gone.py", "--takeover", "--reason", "r", *CLAUDE)
    lines = review.ok(*words).err.splitlines()
    assert "note: src/a.py was claimed by Codex@login (Pat)" in lines
    assert "note: gone.py does not exist in this worktree" in "".join(lines)
    assert "b.py" not in "".join(lines)


def test_a_list_counts_down_from_what_was_asked_for(login: Here) -> None:
    login.ok("claim", "a.py", "--ttl", "15m", *CODEX)
    out = login.ok("claims").out
    assert re.search(r" · (15m 0s|14m \d+s) left", out), out
    (claim,) = login.json("claims")["claims"]
    assert 880 <= claim["seconds_left"] <= 900


def test_one_worktree_claims_and_the_other_is_refused(
    login: Here, review: Here
) -> None:
    answer = login.ok(
        "claim", "src/a.py", "./src/../b.py", "-m", "the", "-m", "form", *CODEX
    )
    assert answer.out == "claimed for 15m: src/a.py, b.py\n"
    problem = review.fails(20, "claim", "free.py", "src", *CLAUDE)
    assert "Codex@login (Pat) edits src/a.py (active just now; the form)" in problem
    assert "wc claim src/a.py --takeover" in problem
    assert claimed(review) == {
        "src/a.py": "Codex@login (Pat)",
        "b.py": "Codex@login (Pat)",
    }
    assert review.wc("claim", "src", *CLAUDE, "--json").error["code"] == "CLAIMED"


def test_what_is_released_is_free(login: Here, review: Here) -> None:
    login.ok("claim", "a.py", "b.py", *CODEX)
    assert login.ok("release", "a.py", *CODEX).out == "released: a.py\n"
    review.ok("claim", "a.py", *CLAUDE)
    assert login.json("release", "--all", *CODEX) == {"released": ["b.py"]}
    assert claimed(login) == {"a.py": "Claude Code@review (Pat)"}
    assert login.ok("release", "--all", *CODEX).out.startswith("You have no claims")


def test_releasing_what_one_does_not_have_is_an_error(
    login: Here, review: Here
) -> None:
    login.ok("claim", "a.py", *CODEX)
    problem = review.fails(3, "release", "a.py", *CLAUDE)
    assert "You have no claim on a.py; Codex@login (Pat) has a.py." in problem
    assert "You have claimed: a.py" in login.fails(3, "release", "b.py", *CODEX)
    review.fails(2, "release", *CLAUDE)
    review.fails(2, "release", "a.py", "--all", *CLAUDE)


def test_claiming_again_renews(login: Here) -> None:
    login.ok("claim", "a.py", "--ttl", "1m", *CODEX)
    again = login.json("claim", "a.py", "c.py", "--ttl", "2h", *CODEX)
    assert (again["renewed"], again["claimed"]) == (["a.py"], ["c.py"])
    assert {c["ttl_s"] for c in login.json("claims")["claims"]} == {7200}


def test_readers_share(login: Here, review: Here) -> None:
    login.ok("claim", "schema.sql", "--mode", "read", *CODEX)
    review.ok("claim", "schema.sql", "--mode", "read", *CLAUDE)
    assert len(review.json("claims")["claims"]) == 2
    problem = review.fails(20, "claim", "schema.sql", *CLAUDE)
    assert "Codex@login (Pat) relies on schema.sql" in problem
    login.ok("release", "--all", *CODEX)
    review.ok("claim", "schema.sql", *CLAUDE)
    assert [c["mode"] for c in review.json("claims")["claims"]] == ["write"]


def test_taking_over_needs_a_reason(login: Here, review: Here) -> None:
    login.ok("claim", "src/a.py", *CODEX)
    review.fails(2, "claim", "src", "--takeover", *CLAUDE)
    review.fails(2, "claim", "b.py", "--reason", "gone", *CLAUDE)
    answer = review.json("claim", "src", "--takeover", "--reason", "gone", *CLAUDE)
    assert answer["replaced"] == [{"id": "src/a.py", "holder": "Codex@login (Pat)"}]
    assert claimed(login) == {"src": "Claude Code@review (Pat)"}
    login.fails(20, "claim", "src/a.py", *CODEX)


def test_an_agent_takes_over_nothing(login: Here, review: Here) -> None:
    login.ok("claim", "a.py", *CODEX)
    words = ("claim", "a.py", "--takeover", "--reason", "gone")
    for name in ("Pat", "Claude Code"):
        problem = review.fails(20, *words, "--as", name, env={"CLAUDECODE": "1"})
        assert "wc claim a.py --takeover --reason gone" in problem
    assert claimed(review) == {"a.py": "Codex@login (Pat)"}
    review.ok(*words, "--as", "Pat")
    assert claimed(review) == {"a.py": "Pat"}


def test_the_hints_are_safe_to_run_whatever_a_record_says(repo: Here) -> None:
    repo.ok("claim", "a.py", *CODEX)
    ref = repo.git("for-each-ref", "--format=%(refname)", "refs/wc/claims").strip()
    commit = repo.git("cat-file", "commit", ref).replace(
        '"thread":""', '"thread":"login; rm -rf ~ #"'
    )
    store = ("hash-object", "-t", "commit", "-w", "--stdin")
    done = subprocess.run(
        ["git", *store],
        cwd=repo.path,
        env=repo.machine.env,
        input=commit.encode(),
        stdout=subprocess.PIPE,
        check=True,
    )
    repo.git("update-ref", ref, done.stdout.decode().strip())
    problem = repo.fails(20, "claim", "a.py", *CLAUDE)
    assert "wc say 'login; rm -rf ~ #' -m" in problem


def test_what_is_new_must_not_exist_anywhere(repo: Here, review: Here) -> None:
    (review.path / "only-here.py").write_text("x")
    repo.git("branch", "topic")
    repo.git("worktree", "add", "-q", "../topic", "topic")
    topic = repo.path.parent / "topic"
    (topic / "on-branch.py").write_text("x")
    repo.machine.git("add", ".", cwd=topic)
    repo.machine.git("commit", "-qm", "x", cwd=topic)
    repo.git("worktree", "remove", "--force", str(topic))
    assert "in the worktree review" in repo.fails(20, "claim", "--new", "only-here.py")
    assert "in the branch topic" in repo.fails(20, "claim", "--new", "on-branch.py")
    repo.fails(20, "claim", "--new", "free.py", "code.txt")
    assert claimed(repo) == {}
    repo.ok("claim", "--new", "free.py")
    assert repo.json("claims")["claims"][0]["new"] is True


def test_a_claim_names_its_thread(login: Here) -> None:
    login.ok("new", "auth", "--title", "Auth", *CODEX)
    login.fails(3, "claim", "a.py", "--thread", "nowhere", *CODEX)
    login.ok("claim", "a.py", "--thread", "auth", *CODEX)
    assert login.json("claims")["claims"][0]["thread"] == "auth"
    assert "thread auth" in login.ok("claims").out


def test_the_list_is_filtered(login: Here, review: Here) -> None:
    login.ok("claim", "src/a.py", *CODEX)
    review.ok("claim", "b.py", *CLAUDE)
    mine = login.json("claims", "--mine", *CODEX)["claims"]
    assert [(c["id"], c["mine"], c["standing"]) for c in mine] == [
        ("src/a.py", True, "held")
    ]
    about = login.json("claims", "src", *CODEX)["claims"]
    assert [c["id"] for c in about] == ["src/a.py"]
    assert "Nobody has claimed it." in login.ok("claims", "c.py", *CODEX).err
    assert "You have no claims." in login.ok("claims", "--mine", "--as", "Gemini").err


def test_wrong_input(repo: Here) -> None:
    for words in (
        ("claim", "../outside"),
        ("claim", ".git/config"),
        ("claim", "a.py", "--mode", "own"),
        ("claim", "a.py", "--ttl", "1s"),
        ("claim", "a.py", "--ttl", "8d"),
        ("claim", "a.py", "--ttl", "soon"),
        ("claim", "a.py::"),
        ("claims", "a\nb"),
        ("claim",),
    ):
        done = repo.wc(*words)
        assert (done.code, done.out) == (2, "")


def test_outside_of_git_there_are_no_claims(machine: Machine) -> None:
    folder = machine.folder("plain")
    assert "git repository" in folder.fails(2, "claim", "a.py")
    folder.fails(2, "claims")


def test_a_bare_repository_has_no_worktree_to_claim_in(repo: Here) -> None:
    repo.git("init", "-q", "--bare", "../bare.git")
    bare = Here(repo.machine, repo.path.parent / "bare.git")
    bare.fails(2, "claim", "a.py")


def test_index_tree_stash_and_branches_stay_as_they_are(repo: Here) -> None:
    before = (
        repo.git("for-each-ref", "refs/heads/main", "refs/stash"),
        repo.git("status", "--porcelain=v2", "--branch"),
    )
    repo.ok("claim", "code.txt", "src")
    repo.ok("release", "--all")
    after = (
        repo.git("for-each-ref", "refs/heads/main", "refs/stash"),
        repo.git("status", "--porcelain=v2", "--branch"),
    )
    assert before == after
    assert repo.git("for-each-ref", "refs/wc") == ""
    repo.git("fsck", "--strict")


def test_a_repository_with_sha256(machine: Machine) -> None:
    path = machine.root / "modern"
    machine.git("init", "-q", "--object-format=sha256", str(path), cwd=machine.root)
    repo = Here(machine, path)
    repo.ok("claim", "a.py")
    assert claimed(repo) == {"a.py": "Pat"}
    repo.git("fsck", "--strict")


@pytest.fixture
def session() -> Iterator[subprocess.Popen[bytes]]:
    """The process of an agent's session."""
    words = [sys.executable, "-c", "input()"]
    with subprocess.Popen(words, stdin=subprocess.PIPE) as process:
        if not sessions.session_of(process.pid):
            process.kill()
            pytest.skip("no /proc on this machine")
        yield process
        process.kill()


def test_a_claim_ends_when_its_holder_is_killed(
    login: Here, review: Here, session: subprocess.Popen[bytes]
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ancestors, "session_process", lambda _: session.pid)
        login.ok("claim", "a.py", *CODEX)
    review.fails(20, "claim", "a.py", *CLAUDE)
    session.kill()
    session.wait()
    assert "its session has ended" in review.ok("claims").out
    answer = review.json("claim", "a.py", *CLAUDE)
    assert answer["replaced"] == [{"id": "a.py", "holder": "Codex@login (Pat)"}]


def test_two_sessions_of_one_name_hear_of_each_other(
    login: Here, session: subprocess.Popen[bytes]
) -> None:
    (login.path / "src").mkdir()
    (login.path / "src/a.py").touch()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ancestors, "session_process", lambda _: session.pid)
        assert login.ok("claim", "src", *CODEX).err == ""
    note = "note: src was claimed by another session of Codex@login (Pat), too\n"
    assert login.ok("claim", "src/a.py", *CODEX).err == note
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ancestors, "session_process", lambda _: session.pid)
        assert login.ok("claim", "src/a.py", *CODEX).err == ""
    session.kill()
    session.wait()
    assert login.ok("claim", "src/a.py", *CODEX).err == ""


def test_a_write_renews_when_it_is_time(login: Here) -> None:
    login.ok("new", "auth", "--title", "Auth", *CODEX)
    login.ok("claim", "a.py", *CODEX)
    first = nonces(login)
    login.ok("say", "auth", "--title", "Soon", *CODEX)
    assert nonces(login) == first
    memory = next((login.store / ".local/claims/held").iterdir())
    fields = json.loads(memory.read_text())
    memory.write_text(json.dumps({**fields, "at": fields["at"] - 400}))
    login.ok("say", "auth", "--title", "Later", "--as", "Someone")
    assert nonces(login) == first
    login.ok("say", "auth", "--title", "Later", *CODEX)
    assert nonces(login) != first


def test_claiming_something_else_does_not_put_a_renewal_off(login: Here) -> None:
    login.ok("claim", "a.py", "--ttl", "1h", *CODEX)
    memory = next((login.store / ".local/claims/held").iterdir())
    first = json.loads(memory.read_text())["at"]
    time.sleep(1.1)
    login.ok("claim", "b.py", "--ttl", "1h", *CODEX)
    assert json.loads(memory.read_text())["at"] == first
    login.ok("claim", "a.py", "b.py", "--ttl", "1h", *CODEX)
    assert json.loads(memory.read_text())["at"] > first


def nonces(repo: Here) -> list[str]:
    """The commits of all claims."""
    return repo.git("for-each-ref", "--format=%(objectname)", "refs/wc").splitlines()


def test_the_record_is_as_documented(login: Here) -> None:
    login.ok("claim", "a.py", "b.py", "-m", "why", *CODEX)
    ref = login.git("for-each-ref", "--format=%(refname)", "refs/wc").splitlines()[0]
    lines = login.git("log", "-1", "--format=%an%n%B", ref).splitlines()
    assert lines[0] == "Codex@login (Pat)"
    assert lines[1].startswith("Codex@login (Pat): write ")
    fields: dict[str, Any] = json.loads(lines[3])
    assert fields["holder"] == "Codex@login (Pat)"
    assert len(fields["nonce"]) == 32
    assert str(login.path) not in lines[3]


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ((), "Nothing is claimed."),
        (("b.py",), "Nobody has claimed it."),
        (("--mine",), "You have no claims."),
        (("a.py", "--mine"), "You have claimed none of these."),
    ],
)
def test_an_empty_list_says_of_what(
    login: Here, words: tuple[str, ...], text: str
) -> None:
    if words:
        login.ok("claim", "a.py", *CODEX)
    assert login.ok("claims", *words, *CLAUDE).err == f"{text}\n"
