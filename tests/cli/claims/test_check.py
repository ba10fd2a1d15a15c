"""``wc check``: each verdict with its exit status, its JSON, and the server's."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

import pytest

from tests.cli.claims.test_claims_between_clones import Clones, commit
from tests.observe.stores import Session
from wc_core.edits.claims import verdicts

if TYPE_CHECKING:
    from pathlib import Path

    from tests.contract.inprocess import Here

CODEX, GEMINI = ("--as", "Codex"), ("--as", "Gemini")


@pytest.fixture
def clones(tmp_path: Path) -> Clones:
    return Clones(tmp_path)


@pytest.fixture
def repo(clones: Clones) -> Here:
    return clones.pat


def verdict(repo: Here, *words: str) -> tuple[int, str, list[str]]:
    """The exit status, the verdict and the codes of the reasons; without those about
    the graph: `test_neighbor_verdicts` is about them."""
    done = repo.wc("check", *words, "--json")
    codes = [reason["code"] for reason in done.json["reasons"]]
    codes = [code for code in codes if code not in verdicts.GRAPH_CODES]
    return done.code, done.json["verdict"], codes


def test_free_and_own(repo: Here) -> None:
    assert verdict(repo, "a.py", *CODEX) == (0, "PROCEED", ["FREE"])
    repo.ok("claim", "src", *CODEX)
    assert verdict(repo, "src/a.py", *CODEX) == (0, "PROCEED", ["OWN"])
    assert repo.ok("check", "a.py", *CODEX).out.splitlines() == [
        "PROCEED",
        "FREE: No one has claimed a.py.",
    ]


def test_someone_edits_it(repo: Here) -> None:
    repo.ok("claim", "src/a.py", "--thread", "auth", *CODEX)
    repo.ok("new", "ui", "--title", "T", "--to", "Gemini", "--force")
    done = repo.wc("check", "src", "free.py", *GEMINI)
    assert done.code == 32
    unknown = "The neighbours of src, free.py are not known here"
    assert done.out.splitlines() == [
        "SWITCH_TASK",
        "DIRECT_WRITE: Codex (Pat) edits src/a.py for the thread auth.",
        "FREE: No one has claimed free.py.",
        f"GRAPH_UNAVAILABLE: {unknown}: wc neighbors src",
        "You have the ball of: ui",
    ]
    assert "Next: wc read ui --new" in done.err
    assert verdict(repo, "src", "--mode", "read", *GEMINI)[0] == 32


def test_the_answer_is_right_among_many_claims(repo: Here) -> None:
    names = [f"many/{number}.py" for number in range(300)]
    repo.ok("claim", *names, *CODEX)
    repo.ok("claim", "src", *GEMINI)
    for _ in range(2):  # from the refs, and from what was remembered of them
        assert verdict(repo, "free.py", *GEMINI) == (0, "PROCEED", ["FREE"])
        assert verdict(repo, "many/299.py", *CODEX) == (0, "PROCEED", ["OWN"])
        answer = repo.wc("check", "many/234.py", "--json", *GEMINI)
        assert (answer.code, list(answer.json["locks"])) == (32, ["many/234.py"])
        time.sleep(0.15)
    assert len(repo.json("claims")["claims"]) == 301


def test_a_claim_that_lapses_soon_is_waited_for(repo: Here) -> None:
    repo.ok("claim", "a.py", "--ttl", "30s", *CODEX)
    assert verdict(repo, "a.py", *GEMINI) == (31, "WAIT", ["DIRECT_WRITE"])


def test_someone_relies_on_it(repo: Here) -> None:
    repo.ok("claim", "a.py", "--mode", "read", *CODEX)
    assert verdict(repo, "a.py", *GEMINI) == (30, "READ_ONLY", ["DIRECT_READ"])
    assert verdict(repo, "a.py", "--mode", "read", *GEMINI)[:2] == (0, "PROCEED")


def test_the_remote_has_more(clones: Clones) -> None:
    commit(clones.sam)
    clones.sam.git("push", "-q")
    assert verdict(clones.pat, "a.py", *CODEX)[1] == "PROCEED"
    done = clones.pat.wc("check", "a.py", "--fetch", "--json", *CODEX)
    assert (done.code, done.json["verdict"], done.json["status"]) == (
        33,
        "PULL",
        "STALE",
    )
    assert done.json["orchestration"]["command"] == "git pull --rebase"
    clones.pat.git("pull", "-q", "--rebase")
    assert verdict(clones.pat, "a.py", *CODEX) == (0, "PROCEED", ["FREE"])


def test_a_claim_is_refused_where_the_check_says_pull(clones: Clones) -> None:
    pat = clones.pat
    commit(clones.sam)
    clones.sam.git("push", "-q")
    pat.git("fetch", "-q")
    assert verdict(pat, "a.py", *CODEX)[:2] == (33, "PULL")
    said = pat.fails(33, "claim", "a.py", *CODEX)
    assert "origin/main has commits" in said
    assert "--anyway" in said
    assert pat.json("claims")["claims"] == []
    pat.ok("claim", "a.py", "--mode", "read", *CODEX)
    pat.ok("release", "a.py", *CODEX)
    pat.ok("claim", "a.py", "--anyway", "-m", "a typo", *CODEX)
    (claim,) = pat.json("claims")["claims"]
    assert claim["note"] == "a typo; on a checkout behind origin/main"
    pat.ok("release", "a.py", *CODEX)
    # A branch of one's own is not compared with the one that it began from.
    pat.git("switch", "-qc", "fix", "--track", "origin/main")
    pat.git("reset", "-q", "--hard", "HEAD~1")
    assert verdict(pat, "a.py", *CODEX)[0] == 0
    pat.ok("claim", "a.py", *CODEX)


def test_what_is_a_thread_and_no_file_is_taken(repo: Here) -> None:
    repo.ok("new", "login", "-m", "Log in", "--to", "anyone")
    assert "wc take login" in repo.fails(3, "claim", "login", *CODEX)
    assert repo.json("claims")["claims"] == []
    repo.ok("claim", "login", "--new", *CODEX)
    (repo.path / "auth").write_text("x")
    repo.ok("claim", "auth", *CODEX)  # the file, not the thread


def test_being_ahead_is_fine_but_for_what_nobody_sees(repo: Here) -> None:
    commit(repo)
    assert verdict(repo, "a.py", *CODEX) == (0, "PROCEED", ["FREE"])
    assert verdict(repo, "code.txt", *CODEX) == (34, "PUSH", ["UNPUSHED", "FREE"])
    repo.ok("claim", "code.txt", *CODEX)
    assert verdict(repo, "code.txt", *CODEX) == (0, "PROCEED", ["OWN"])
    repo.ok("release", "--all", *CODEX)
    repo.ok("claim", ".", *CODEX)
    assert verdict(repo, "code.txt", *CODEX) == (0, "PROCEED", ["OWN"])
    repo.git("push", "-q")
    repo.ok("release", "--all", *CODEX)
    assert verdict(repo, "code.txt", *CODEX) == (0, "PROCEED", ["FREE"])


def test_the_ball_is_elsewhere(repo: Here) -> None:
    repo.ok("new", "ui", "--title", "T", "--to", "Gemini", "--force", *CODEX)
    expected = (32, "SWITCH_TASK", ["BALL_ELSEWHERE", "FREE"])
    assert verdict(repo, "a.py", "--thread", "ui", *CODEX) == expected
    repo.ok("claim", "a.py", "--thread", "ui", *CODEX)
    assert verdict(repo, "a.py", *CODEX)[2] == ["BALL_ELSEWHERE", "OWN"]
    repo.fails(3, "check", "a.py", "--thread", "nowhere", *CODEX)
    repo.ok("rename", "ui", "screens", *CODEX)
    assert verdict(repo, "a.py", *CODEX)[2] == ["BALL_ELSEWHERE", "OWN"]


def test_what_was_lost_is_fenced_until_it_is_given_up(repo: Here) -> None:
    repo.ok("claim", "a.py", "b.py", *CODEX)
    repo.ok("claim", "a.py", "--takeover", "--reason", "asleep", *GEMINI)
    repo.ok("release", "a.py", *GEMINI)
    assert verdict(repo, "c.py", *CODEX) == (35, "STOP", ["FENCED", "FREE"])
    assert verdict(repo, "c.py", "--mode", "read", *CODEX)[0] == 0
    repo.ok("claim", "c.py", *CODEX)
    assert verdict(repo, "c.py", *CODEX)[1] == "STOP"
    assert repo.json("release", "a.py", *CODEX) == {"released": ["a.py"]}
    assert verdict(repo, "c.py", *CODEX)[1] == "PROCEED"
    assert verdict(repo, "b.py", *CODEX)[2] == ["OWN"]


def test_claiming_again_ends_the_fence(repo: Here) -> None:
    repo.ok("claim", "a.py", *CODEX)
    repo.ok("claim", "a.py", "--takeover", "--reason", "asleep", *GEMINI)
    repo.ok("release", "a.py", *GEMINI)
    repo.ok("claim", "a.py", *CODEX)
    assert verdict(repo, "a.py", *CODEX) == (0, "PROCEED", ["OWN"])


def test_without_the_remote(clones: Clones) -> None:
    clones.hub.rename(clones.hub.with_name("away"))
    assert verdict(clones.pat, "a.py", *CODEX)[1] == "PROCEED"
    done = clones.pat.wc("check", "a.py", "--fetch", "--json", *CODEX)
    assert (done.code, done.json["status"]) == (35, "OFFLINE")
    assert done.json["reasons"][0]["code"] == "REMOTE_UNREACHABLE"
    done = clones.pat.wc("check", "a.py", "--fetch", "--mode", "read", "--json")
    assert (done.code, done.json["status"]) == (0, "OFFLINE")


def test_the_form_of_the_answer(repo: Here) -> None:
    repo.ok("claim", "a.py", *CODEX)
    answer: dict[str, Any] = repo.wc("check", "a.py", "--json", *GEMINI).json
    assert list(answer) == [
        *("verdict", "reasons", "switch_to", "status", "lock_status", "repo_head"),
        *("locks", "warnings", "orchestration"),
    ]
    lock = answer["locks"]["a.py"]
    assert set(lock) == {"user", "status", "mode", "lock_type", "timestamp"}
    assert (lock["user"], lock["lock_type"]) == ("Codex (Pat)", "DIRECT")
    assert answer["status"] == "CONFLICT"
    assert answer["repo_head"] == repo.git("rev-parse", "HEAD")
    orchestration = answer["orchestration"]
    assert set(orchestration) == {"type", "action", "command", "reason", "metadata"}
    assert orchestration["metadata"] == {
        "remote_head": repo.git("rev-parse", "origin/main"),
        "lock_owner": "Codex (Pat)",
        "conflicts": ["a.py"],
    }


def test_a_command_of_an_answer_is_safe_to_run(repo: Here) -> None:
    names = ("-rf", "$(touch gone)", "a b.py")
    repo.ok("claim", "--mode", "read", *CODEX, "--", *names)
    done = repo.wc("check", "--json", *GEMINI, "--", *names)
    assert done.json["orchestration"]["command"] == (
        "wc claim ./-rf '$(touch gone)' 'a b.py' --mode read"
    )
    repo.ok("claim", ".", *CODEX)
    answer = repo.wc("check", ".", *GEMINI)
    assert "Codex (Pat) edits everything." in answer.out


def test_the_verdicts_are_ordered_and_each_has_an_exit_status() -> None:
    from wc_cli.commands.edits.check import _BY_VERDICT

    codes = [_BY_VERDICT[name].exit_code for name in verdicts.VERDICTS[1:]]
    assert codes == [30, 31, 32, 33, 34, 35]


def test_wrong_input(repo: Here) -> None:
    for words in (("a.py", "--mode", "own"), ("../a.py",), ("a.py::",), ()):
        done = repo.wc("check", *words)
        assert (done.code, done.out) == (2, "")


def server(repo: Here, agent: str) -> Session:
    env = {**repo.machine.env, "WATERCOOLER_AGENT": agent}
    return Session(repo.path, env)


def test_the_server_gives_the_same_answer(clones: Clones) -> None:
    repo = clones.pat
    repo.ok("claim", "src/a.py", "-m", "why", *CODEX)
    repo.ok("claim", "d.py", "--thread", "auth", *GEMINI)
    repo.ok("handoff", "auth", "--to", "Cursor", "--reason", "x", *CODEX)
    repo.wc("neighbors", ".")  # the graph is computed, though no file is of a kind
    session = server(repo, "Gemini")
    assert session.json("check_status", symbols=["d.py"])["verdict"] == "SWITCH_TASK"
    for symbols in (["src"], ["b.py"], ["src/a.py::f", "c.py"], ["d.py"]):
        own = json.loads(repo.wc("check", *symbols, "--json", *GEMINI).out)
        assert session.json("check_status", symbols=symbols) == own
    assert "**SWITCH_TASK**" in session.text("check_status", symbols=["src"])
    listed = session.json("list_edits")["claims"]
    own = repo.json("claims", *GEMINI)["claims"]
    for claim in (*listed, *own):
        del claim["seconds_left"]
    assert listed == own
    assert "src/a.py (write) · Codex (Pat)" in session.text("list_edits")


def test_the_words_of_coordination_services(clones: Clones) -> None:
    repo = clones.pat
    session = server(repo, "Gemini")
    words = {"symbols": ["a.py"], "repo_url": "https://example.org/other.git"}
    assert session.text("check_status", **words).startswith("**PROCEED** · OPEN\n")
    assert "\n- note: repo_url is ignored" in session.text("check_status", **words)
    answer = session.json("check_status", **words)
    assert (answer["lock_status"], answer["status"]) == ("OPEN", "OK")
    assert answer["warnings"] == [
        "repo_url is ignored: the answer is about the repository of the store."
    ]
    repo.ok("claim", "a.py", *CODEX)
    text = session.text("check_status", symbols=["a.py"])
    assert text.startswith("**SWITCH_TASK** · LOCKED_DIRECT\n")
    assert "repo_url" not in text
    own = repo.wc("check", "a.py", "--json", *CODEX).json
    assert own["lock_status"] == "OPEN"


def test_how_old_an_answer_is_if_the_remote_was_silent(clones: Clones) -> None:
    repo = clones.pat
    repo.ok("sync")
    away = clones.hub.rename(clones.hub.with_name("away"))
    repo.wc("sync")
    session = server(repo, "Gemini")
    session.clock = lambda: int((time.time() + 600) * 1000)
    text = session.text("check_status", symbols=["a.py"])
    assert text.startswith("**PROCEED** · OPEN · OFFLINE\n")
    assert "origin did not answer 10m ago; what is known was fetched 10m ago." in text
    answer = session.json("check_status", symbols=["a.py"])
    assert (answer["verdict"], answer["status"]) == ("PROCEED", "OFFLINE")
    assert answer["reasons"][0]["code"] == "FREE"
    assert any("origin did not answer" in text for text in answer["warnings"])
    done = repo.wc("check", "a.py", "--json", *CODEX)
    assert (done.code, done.json["status"]) == (0, "OFFLINE")
    away.rename(clones.hub)
    repo.ok("sync")
    assert repo.wc("check", "a.py", "--json", *CODEX).json["status"] == "OK"


def test_the_server_knows_a_path_by_all_of_its_names(clones: Clones) -> None:
    repo = clones.pat
    (repo.path / "a.py").write_text("a\n")
    (repo.path / "link.py").symlink_to("a.py")
    repo.ok("claim", "a.py", "caf\u00e9.py", *CODEX)
    session = server(repo, "Gemini")
    for name in ("link.py", "./a.py", "x/../a.py", "cafe\u0301.py"):
        answer = session.json("check_status", symbols=[name])
        assert answer["verdict"] == "SWITCH_TASK", name
    for wrong in ("../a.py", "/etc/passwd", ".git/config", "a.py::", "\0", ""):
        problem = session.error("check_status", symbols=[wrong])["message"]
        assert "not a PATH or PATH::SYMBOL" in problem, wrong


def test_the_server_opens_no_file_that_a_caller_names(clones: Clones) -> None:
    session = server(clones.pat, "Gemini")
    for head in ("../../config", "\0", "-", "HEAD", "f" * 40):
        answer = session.json("check_status", symbols=["a.py"], agent_head=head)
        assert answer["verdict"] == "PROCEED"
        error = session.error("check_status", symbols=["a.py"], branch=f"../{head}")
        assert "cannot be the name of a branch" in error["message"]


def test_the_server_compares_with_the_upstream_of_the_branch(clones: Clones) -> None:
    repo = clones.pat
    before = repo.git("rev-parse", "HEAD")
    repo.git("remote", "rename", "origin", "hub")
    repo.git("push", "-q", "-u", "hub", "HEAD:trunk")
    commit(repo)
    repo.git("push", "-q", "hub", "HEAD:trunk")
    answer = server(repo, "Codex").json(
        "check_status", symbols=["a.py"], agent_head=before
    )
    assert answer["verdict"] == "PULL"


def test_the_server_knows_who_is_behind_where_commits_are_loose(
    clones: Clones,
) -> None:
    repo = clones.pat
    before = repo.git("rev-parse", "HEAD")
    after = commit(repo)
    repo.git("push", "-q")
    session = server(repo, "Codex")
    for head, expected in ((before, "PULL"), (after, "PROCEED")):
        answer = session.json("check_status", symbols=["a.py"], agent_head=head)
        assert (answer["verdict"], answer["repo_head"]) == (expected, head)
    ahead = commit(repo)
    answer = session.json("check_status", symbols=["a.py"], agent_head=ahead)
    assert answer["verdict"] == "PROCEED"
    repo.git("gc", "--quiet")
    answer = session.json("check_status", symbols=["a.py"], agent_head=before)
    assert answer["verdict"] == "PROCEED"
    assert any("takes git: wc check" in text for text in answer["warnings"])
