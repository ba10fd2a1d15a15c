"""The commands that write, and the rules of the ball, as a person meets them."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Machine, Repo

SCRIPT = Path(__file__).resolve().parents[3] / "bin" / "wc-statusline"
ULID = r"[0-9A-HJKMNP-TV-Z]{26}"

PAT = "Pat"
CLAUDE = "Claude Code (Pat)"
CODEX = "Codex (Pat)"


def begin(
    repo: Repo, *more: str, by: str = "Codex", to: str = "", topic: str = "auth"
) -> None:
    """A thread, begun by Codex, whose ball ``to`` has, or its author."""
    passing = ["--to", to, "--force"] if to else []
    repo.ok("new", topic, "--title", "Login", "--as", by, *passing, *more)


def receipt(repo: Repo, *words: str, **how: Any) -> dict[str, Any]:
    result: dict[str, Any] = repo.json(*words, **how)
    return result


def config(repo: Repo, text: str) -> None:
    repo.ok("init")
    (repo.store / "config.toml").write_text(text)


# --- the receipt --------------------------------------------------------------


def test_the_receipt_has_exactly_the_promised_keys(repo: Repo) -> None:
    said = repo.settled("say", "auth", "--title", "Begin", "--json").json
    assert list(said) == [
        *("topic", "entry_id", "idx", "ball", "previous_ball", "status"),
        *("committed", "pushed", "notes", "saved"),
    ]
    assert re.fullmatch(ULID, said.pop("entry_id"))
    assert said == {
        "topic": "auth",
        "idx": 0,
        "ball": PAT,
        "previous_ball": None,
        "status": "OPEN",
        "committed": True,
        "pushed": None,
        "notes": [],
        "saved": True,
    }


def test_a_receipt_of_what_moves_no_ball_and_is_not_committed(repo: Repo) -> None:
    said = receipt(repo, "say", "auth", "--title", "Begin", "--body", "How?")
    assert (said["saved"], said["committed"]) == (True, False)
    (entry,) = repo.entries("auth")
    assert entry["entry_id"] == said["entry_id"]
    assert (entry["title"], entry["body"]) == ("Begin", "How?")
    assert repo.ok("ack", "auth").out == "saved auth #1 · ball: Pat\n"


def test_the_receipt_in_words(repo: Repo) -> None:
    begin(repo, to=PAT)
    done = repo.settled("say", "auth", "--title", "Done", "--status", "in-review")
    assert re.fullmatch(
        r"saved auth #1 · ball: Pat → Codex \(Pat\) · IN_REVIEW"
        r" · committed\n",
        done.out,
    )
    assert done.err == ""


def test_a_store_with_a_remote_says_that_nothing_was_pushed(repo: Repo) -> None:
    repo.git("remote", "add", "origin", "https://example.org/acme/app.git")
    assert receipt(repo, "say", "auth", "--title", "x")["pushed"] is False
    assert repo.ok("ack", "auth").out.endswith(" · not pushed: wc sync\n")


# --- what an entry carries ----------------------------------------------------


def test_an_entry_as_it_stands_in_the_log(repo: Repo) -> None:
    words = ["--body", "Text", "--role", "Critic", "--type", "plan", "--key", "k1"]
    repo.ok("say", "auth", "--title", " A title ", *words, "--to", "codex")
    (entry,) = repo.entries("auth")
    commit = repo.git("rev-parse", "HEAD")
    entry_id, at = entry.pop("entry_id"), entry.pop("timestamp")
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", at)
    assert entry == {
        "id": f"entry:{entry_id}",
        "type": "entry",
        "thread_topic": "auth",
        "index": 0,
        "agent": "Pat",
        "role": "critic",
        "entry_type": "Plan",
        "title": "A title",
        "body": "Text",
        "summary": "",
        "file_refs": [],
        "pr_refs": [],
        "commit_refs": [],
        "code_branch": "main",
        "code_commit": commit,
        "action": "say",
        "status": "OPEN",
        "key": "k1",
        "ball": "Codex",
        "parents": [],
    }


def test_the_log_names_ball_and_status_only_where_they_change(repo: Repo) -> None:
    begin(repo)
    repo.ok("ack", "auth", "--title", "Fine")
    repo.ok("say", "auth", "--title", "Done", "--as", "Codex")
    repo.ok("set_status", "auth", "blocked", "--reason", "No key")
    first, ack, say, status = repo.entries("auth")
    assert (first["ball"], first["status"]) == (CODEX, "OPEN")
    assert not {"ball", "status"} & set(ack)
    assert say["ball"] == PAT
    assert "status" not in say
    assert status["status"] == "BLOCKED"
    assert "ball" not in status
    assert (status["action"], status["reason"]) == ("set_status", "No key")


def test_each_entry_names_the_one_before_it(repo: Repo) -> None:
    for title in "abc":
        repo.ok("say", "auth", "--title", title)
    found = repo.entries("auth")
    ids = [one["entry_id"] for one in found]
    assert ids == sorted(ids)
    assert [one["parents"] for one in found] == [[], ids[:1], ids[1:2]]


# --- new ----------------------------------------------------------------------


def test_who_has_the_ball_of_a_new_thread(repo: Repo) -> None:
    for at, (words, ball, status) in enumerate(
        (
            ((), PAT, "OPEN"),
            (("--to", "Codex"), "Codex", "OPEN"),
            (("--to", "anyone"), None, "OPEN"),
            (("--to", "me"), PAT, "OPEN"),
            (("--status", "IN_REVIEW"), PAT, "IN_REVIEW"),
            (("--status", "closed"), None, "CLOSED"),
        )
    ):
        said = receipt(repo, "new", f"auth-{at}", "--title", "Login", *words)
        assert (said["ball"], said["status"]) == (ball, status)
    refusal = repo.fails(4, "new", "AUTH-0", "--title", "Again")
    assert "already" in refusal
    assert "wc say auth-0" in refusal
    assert len(repo.entries("auth-0")) == 1


# --- say ----------------------------------------------------------------------


def test_a_say_of_the_holder_goes_to_the_other_one(repo: Repo) -> None:
    begin(repo, to=PAT)
    assert receipt(repo, "say", "auth", "--title", "x")["ball"] == CODEX
    # ... and back to who passed it.
    words = ["say", "auth", "--title", "y", "--as", "Codex"]
    assert receipt(repo, *words)["ball"] == PAT


def test_a_say_of_someone_else_leaves_the_ball(repo: Repo) -> None:
    begin(repo)
    done = repo.ok("say", "auth", "--title", "A remark")
    assert "ball: Codex (Pat)" in done.out
    assert "→" not in done.out
    assert done.err == (
        "note: the ball stays with Codex (Pat); to take it: wc take auth --reason '…'\n"
    )
    assert repo.ball("auth") == CODEX


def test_where_a_say_sends_the_ball(repo: Repo) -> None:
    def ball(topic: str, *words: str) -> str | None:
        said: str | None = receipt(repo, "say", topic, "--title", "x", *words)["ball"]
        return said

    begin(repo, to="anyone")
    assert ball("auth", "--to", "Cursor") == "Cursor"
    # Who last passed it comes before who wrote last, and who asked before a bystander.
    for topic, to in (("passed", PAT), ("free", "anyone")):
        begin(repo, by="Cursor", topic=topic, to=to)
        repo.ok("ack", topic, "--as", "Codex")
        assert ball(topic) == "Cursor (Pat)"
    begin(repo, topic="last", to=PAT)
    repo.ok("ack", "last", "--as", "Codex")
    assert ball("last") == CODEX
    repo.ok("take", "last", "--reason", "x")
    for who in ("anyone", "nobody", "free", "Anybody"):
        assert ball("last", "--to", who) is None


def test_finished_work_goes_back_to_the_person_who_asked(repo: Repo) -> None:
    repo.ok("new", "auth", "--title", "Passkeys", "--to", "Claude")
    claude, codex = ("--as", "Claude"), ("--as", "Codex")
    repo.ok("say", "auth", "--title", "Review?", "--to", "Codex", *claude)
    repo.ok("say", "auth", "--title", "Why sha1?", *codex)
    note = "note: Pat asked for this; when it is done: wc done auth"
    assert note in repo.ok("say", "auth", "--title", "Fixed", *claude).err
    repo.ok("say", "auth", "--title", "Approved", *codex)
    done = receipt(repo, "done", "auth", "--title", "All done: merge?", *claude)
    assert (done["ball"], done["status"]) == (PAT, "OPEN")
    closed = receipt(repo, "done", "auth", "--title", "Merged")
    assert (closed["ball"], closed["status"]) == (None, "CLOSED")
    assert "wc say auth --reopen" in repo.fails(4, "done", "auth", "--title", "x")
    assert "There is no thread" in repo.fails(3, "done", "missing", "--title", "x")


def test_a_ball_that_bounces_is_noticed_once_and_stays_a_problem(repo: Repo) -> None:
    config(repo, "[ball]\nbounces = 3\n")
    repo.ok("new", "auth", "--title", "Passkeys", "--to", "Codex (Pat)")
    said = [
        repo.ok("say", "auth", "--title", "x", "--as", who, "--to", to)
        for who, to in (("Codex", "Claude (Pat)"), ("Claude", "Codex (Pat)")) * 2
    ]
    assert ["3 times" in each.err for each in said] == [False, False, True, False]
    assert "wc done auth" in said[2].err
    assert "4 times between Claude Code (Pat) and Codex (Pat)" in repo.wc("doctor").out
    repo.ok("set-status", "auth", "IN_REVIEW")
    repo.ok("doctor")


def test_a_configured_counterpart_comes_first(repo: Repo) -> None:
    config(
        repo,
        '[counterparts]\nPat = ["me", "cc"]\n[aliases]\nme = "Pat"\ncc = "Claude"\n'
        '[topics.billing.counterparts]\nPat = "Cursor"\n',
    )
    begin(repo, to=PAT)
    assert receipt(repo, "say", "auth", "--title", "x")["ball"] == CLAUDE
    begin(repo, topic="billing", to=PAT)
    said = receipt(repo, "say", "billing", "--title", "x")
    assert said["ball"] == "Cursor (Pat)"


def test_a_ball_at_codex_is_every_codex_s(repo: Repo) -> None:
    begin(repo, to="codex")
    fix = repo.worktree("app-wt-fix")
    for who in (repo, fix):
        assert who.json("list", "--as", "Codex CLI")["threads"][0]["have_ball"]
        assert not who.json("list", "--as", "Claude")["threads"][0]["have_ball"]


def test_a_ball_at_a_seat_is_only_that_one_s(repo: Repo) -> None:
    fix = repo.worktree("app-wt-fix")
    begin(repo, to="Codex@fix")
    assert fix.json("list", "--as", "Codex")["threads"][0]["have_ball"]
    assert not repo.json("list", "--as", "Codex")["threads"][0]["have_ball"]
    other = ["list", "--as", "Codex", "--seat", "other"]
    assert not fix.json(*other)["threads"][0]["have_ball"]


def test_enforce_off_passes_the_ball_of_anyone(repo: Repo) -> None:
    config(repo, '[ball]\nenforce = "off"\n')
    begin(repo)
    assert receipt(repo, "say", "auth", "--title", "x", "--to", "Cursor")["ball"] == (
        "Cursor"
    )


def test_enforce_refuse_names_the_way_out(repo: Repo) -> None:
    config(repo, '[ball]\nenforce = "refuse"\n')
    begin(repo)
    said = repo.fails(4, "say", "auth", "--title", "x")
    assert "wc ack auth" in said
    assert "wc take auth --reason" in said
    assert len(repo.entries("auth")) == 1
    repo.ok("ack", "auth")


def test_settings_that_make_no_sense_stop_a_write(repo: Repo) -> None:
    config(repo, '[ball]\nenforce = "perhaps"\n')
    said = repo.fails(6, "say", "auth", "--title", "x")
    assert "config.toml" in said
    assert "off, warn, refuse" in said
    repo.ok("list")


# --- closed threads -----------------------------------------------------------


def test_closing_frees_the_ball_and_reopening_takes_it(repo: Repo) -> None:
    begin(repo, to=PAT)
    said = receipt(repo, "set-status", "auth", "closed")
    assert (said["ball"], said["status"]) == (None, "CLOSED")
    for words in (
        ["say", "auth", "--title", "x"],
        ["handoff", "auth", "--to", "Codex"],
        ["take", "auth", "--reason", "stuck"],
    ):
        refused = repo.fails(4, *words)
        assert "closed" in refused
        assert "wc say auth --reopen" in refused
    repo.ok("ack", "auth", "--title", "Thanks")
    said = receipt(repo, "say", "auth", "--title", "x", "--reopen")
    assert (said["ball"], said["status"]) == (PAT, "OPEN")


@pytest.mark.parametrize("words", [[], ["--title", ""], ["--title", "  "]])
def test_an_ack_without_a_title_has_the_default_one(
    repo: Repo, words: list[str]
) -> None:
    begin(repo)
    repo.ok("ack", "auth", *words)
    assert repo.entries("auth")[-1]["title"] == "Ack"


def test_a_say_can_close(repo: Repo) -> None:
    begin(repo, to=PAT)
    words = ["say", "auth", "--title", "Shipped", "--status", "CLOSED", "--to", "Codex"]
    done = repo.wc(*words, "--json")
    assert (done.code, done.error["code"]) == (9, "FINDINGS")
    said = done.json
    assert (said["ball"], said["status"], said["notes"]) == (None, "CLOSED", [])
    assert said["not_passed"] == "closing frees the ball, and it did not go to Codex"
    assert said["hint"] == done.error["hint"]
    repo.ok("say", "auth", "--reopen", "--to", "Codex", "-m", "…", "--force")
    assert repo.json("read", "auth")["ball"] == "Codex"


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (
            ("say", "auth", "-m", "x", "--to", "Codex", "--force"),
            "To pass it on for them: wc handoff auth --to Codex --reason '…'",
        ),
        (
            ("done", "auth", "-m", "x", "--to", "anyone"),
            "To pass it on for them: wc handoff auth --to anyone --reason '…'",
        ),
        (
            ("say", "auth", "-m", "x", "--to", "me"),
            "To take it: wc take auth --reason '…'",
        ),
        (
            ("set-status", "auth", "IN_REVIEW", "--to", "asker"),
            "To pass it on for them: wc handoff auth --to asker --reason '…'",
        ),
        (("say", "auth", "-m", "x", "--to", "Claude Code"), ""),
        (("say", "auth", "-m", "x"), ""),
        (("done", "auth", "-m", "x"), ""),
        (("ask", "auth", "-m", "x", "--to", "Codex", "--force"), ""),
    ],
)
def test_a_ball_that_stays_despite_to_is_told_by_the_exit_status(
    repo: Repo, words: tuple[str, ...], hint: str
) -> None:
    begin(repo, to="Claude Code")
    done = repo.wc(*words, "--as", "Cursor", "--key", "once", "--json")
    again = repo.wc(*words, "--as", "Cursor", "--key", "once")
    assert (done.code, again.code) == (9, 9) if hint else (0, 0)
    said = done.json
    assert (said["idx"], said["ball"]) == (1, "Claude Code")
    assert said.get("hint", "") == hint
    assert again.out.startswith("saved auth #1 · ball: Claude Code")
    if hint:
        message = f"The entry is saved, but {said['not_passed']}."
        assert done.error == {"code": "FINDINGS", "message": message, "hint": hint}
        assert again.err.endswith(f"wc: {message}\n    {hint}\n")
        assert not any("stays with" in note for note in said["notes"])
    assert len(repo.entries("auth")) == 2


def test_a_receipt_names_the_status_that_is_not_open_or_new(repo: Repo) -> None:
    begin(repo, to=PAT)
    assert "already OPEN" in repo.fails(4, "set-status", "auth", "open")
    assert "OPEN" not in repo.ok("ack", "auth").out
    assert repo.ok("set-status", "auth", "BLOCKED").out.endswith(" · BLOCKED\n")
    assert repo.ok("ack", "auth").out.endswith(" · BLOCKED\n")
    assert repo.ok("set-status", "auth", "OPEN").out.endswith(" · OPEN\n")
    assert receipt(repo, "set-status", "auth", "IN_REVIEW")["ball"] == PAT
    assert "is_new_status" not in receipt(repo, "ack", "auth")


# --- handoff and take ---------------------------------------------------------


def test_who_may_hand_over_and_take(repo: Repo) -> None:
    begin(repo, to=PAT)
    refusal = repo.fails(4, "handoff", "auth", "--to", PAT)
    assert "already with Pat" in refusal
    assert "--to NAME" in refusal
    words = ["handoff", "auth", "--to", "Cursor"]
    assert receipt(repo, *words, "--note", "Yours")["ball"] == "Cursor"
    entry = repo.entries("auth")[-1]
    assert (entry["title"], entry["body"]) == ("Handoff to Cursor", "Yours")
    # Others need a reason.
    begin(repo, topic="held")
    words = ["handoff", "held", "--to", "Cursor"]
    assert "--reason" in repo.fails(4, *words)
    assert receipt(repo, *words, "--reason", "Codex is away")["ball"] == "Cursor"
    assert repo.entries("held")[-1]["reason"] == "Codex is away"
    assert "wc take held --reason" in repo.fails(4, "take", "held")
    assert receipt(repo, "take", "held", "--reason", "It is stuck")["ball"] == PAT
    assert "wc say held" in repo.fails(4, "take", "held")
    begin(repo, topic="free", to="anyone")
    said = receipt(repo, "take", "free")
    assert (said["previous_ball"], said["ball"]) == (None, PAT)


def test_no_text_is_lost_that_is_given_with_a_second_m(repo: Repo) -> None:
    begin(repo, to=PAT)
    repo.ok("handoff", "auth", "--to", "Codex", "-m", "Have a look.", "-m", "Hurry.")
    assert repo.entries("auth")[-1]["body"] == "Have a look.\n\nHurry."
    repo.ok("take", "auth", "-m", "Codex is away", "-m", "until Monday")
    assert repo.entries("auth")[-1]["reason"] == "Codex is away until Monday"
    repo.ok("set-status", "auth", "BLOCKED", "-m", "No answer", "--reason", "at all")
    assert repo.entries("auth")[-1]["reason"] == "No answer at all"


def test_a_thread_is_moved_by_anyone_and_keeps_its_ball(repo: Repo) -> None:
    repo.ok("new", "login", "--title", "x", "--to", "Codex (Pat)", "--force")
    repo.ok("set-status", "login", "BLOCKED")
    repo.git("branch", "fix/login")
    done = repo.ok("move", "login", "--branch", "fix/login", "--as", "Zed")
    assert done.out.startswith("saved login #2 ·")
    assert "ball: Codex (Pat) · BLOCKED" in done.out
    assert done.err == ""
    entry = repo.json("read", "login", "--peek")["entries"][-1]
    assert entry["action"] == "move"
    assert (entry["title"], entry["thread_branch"]) == (
        "Moved to fix/login",
        "fix/login",
    )
    assert repo.json("list")["threads"][0]["branch"] == "fix/login"
    # A later entry, written on another branch, moves nothing.
    repo.ok("ack", "login")
    assert repo.json("list")["threads"][0]["branch"] == "fix/login"


def test_a_thread_is_moved_where_it_is_not(repo: Repo) -> None:
    repo.ok("new", "login", "--title", "x")
    done = repo.wc("move", "login", "--branch", "main")
    assert (done.code, done.out) == (4, "")
    assert "login already belongs to the branch main." in done.err
    for words, text in (
        (("--branch", "a..b"), "'a..b' cannot be the name of a branch."),
        (("--branch", ""), "No branch was given."),
        (("--branch", "-x"), "'-x' cannot be the name of a branch."),
    ):
        done = repo.wc("move", "login", *words)
        assert (done.code, done.out) == (2, "")
        assert text in done.err
    assert repo.wc("move", "login").code == 2
    done = repo.wc("move", "nothing", "--branch", "x")
    assert (done.code, done.out) == (3, "")
    assert repo.json("read", "login", "--peek")["entries"][1:] == []


def test_a_thread_for_a_branch_that_is_to_come(repo: Repo) -> None:
    done = repo.ok("new", "login", "--title", "x", "--branch", "fix/login")
    assert done.err == "note: there is no branch fix/login here yet\n"
    assert repo.json("list")["threads"][0]["branch"] == "fix/login"
    assert repo.machine.run([str(SCRIPT)], repo.path).out == (
        "🎾 login waits for you elsewhere\n"
    )
    fix = repo.worktree("fix", "fix/login")
    assert repo.machine.run([str(SCRIPT)], fix.path).out == "🎾 you · login\n"
    done = repo.wc("new", "other", "--title", "x", "--branch", "a b")
    assert (done.code, done.out) == (2, "")


@pytest.mark.parametrize("action", ["say", "new", "handoff"])
def test_an_unknown_name_needs_force(repo: Repo, action: str) -> None:
    begin(repo, to=PAT)
    topic = "other" if action == "new" else "auth"
    words = [action, topic, "--to", "Codecks"]
    words += [] if action == "handoff" else ["--title", "x"]
    said = repo.fails(3, *words)
    assert "Codecks" in said
    assert "Did you mean: Codex" in said
    assert "--force" in said
    assert repo.ball("auth") == PAT
    assert receipt(repo, *words, "--force")["ball"] == "Codecks"
    # From now on it is known.
    repo.ok("new", "third", "--title", "x", "--to", "codecks")


def test_an_agent_knows_whose_agent_it_is(repo: Repo) -> None:
    words = ["say", "auth", "--title", "x", "--as", "Codex", "--to"]
    assert receipt(repo, *words, "pat")["ball"] == PAT
    assert repo.json("list")["threads"][0]["have_ball"]


def test_a_short_name_is_completed_if_it_means_one_participant(repo: Repo) -> None:
    repo.worktree("app-wt-review")
    begin(repo, to=PAT)
    said = receipt(repo, "handoff", "auth", "--to", "codex@REVIEW")
    assert said["ball"] == "Codex@review (Pat)"
    # Of an agent in no particular worktree any may take it.
    begin(repo, topic="other", to=PAT)
    assert receipt(repo, "handoff", "other", "--to", "codex")["ball"] == "Codex"
    begin(repo, topic="third", to=PAT)
    repo.ok("ack", "third", "--as", "Codex@review (sam)")
    said = receipt(repo, "handoff", "third", "--to", "Codex@review")
    assert said["ball"] == "Codex@review (sam)"


def test_suggestions_are_people_of_the_store_and_agents_that_are_here(
    repo: Repo, tmp_path: Path
) -> None:
    begin(repo, to=PAT)
    words = ("handoff", "auth", "--to", "Gemni CLI")
    said = repo.fails(3, *words)
    assert "Did you mean: " in said
    assert "Gemini" not in said
    program = tmp_path / "programs/gemini"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    path = f"{program.parent}:{os.environ['PATH']}"
    assert "Gemini CLI" in repo.fails(3, *words, env={"PATH": path})


@pytest.mark.parametrize("who", ["Codex@nowhere", "Codex (stranger)"])
def test_an_unknown_part_of_a_name_needs_force(repo: Repo, who: str) -> None:
    begin(repo, to=PAT)
    said = repo.fails(3, "handoff", "auth", "--to", who)
    assert ("seat" if "@" in who else "tag") in said


# --- conditions and retries ---------------------------------------------------


def test_if_ball(repo: Repo) -> None:
    begin(repo, to=PAT)
    for wanted in ("Codex", "anyone", "free"):
        error = repo.fails(4, "ack", "auth", "--if-ball", wanted)
        assert "Pat has the ball" in error or "not free: Pat has it" in error
    assert len(repo.entries("auth")) == 1
    for wanted in ("me", "pat", "PAT"):
        repo.ok("ack", "auth", "--if-ball", wanted)
    begin(repo, topic="free", to="anyone")
    repo.fails(4, "say", "free", "--title", "x", "--if-ball", "me")
    repo.ok("take", "free", "--if-ball", "anyone")


def test_if_last(repo: Repo) -> None:
    first = receipt(repo, "new", "auth", "--title", "x")["entry_id"]
    repo.ok("ack", "auth", "--if-last", first)
    repo.ok("ack", "auth", "--if-last", "#1")
    repo.ok("ack", "auth", "--if-last", "2")
    for named in (first, "#2", "0", "#"):
        said = repo.fails(4, "ack", "auth", "--if-last", named)
        assert f"its last entry is 3, not {named}." in said
        assert "wc read auth" in said


def test_a_refused_first_entry_leaves_no_thread(repo: Repo) -> None:
    repo.ok("init")
    repo.fails(4, "say", "auth", "--title", "x", "--if-ball", "me")
    assert repo.json("list")["threads"] == []
    assert not repo.log("auth").parent.exists()
    assert "no thread" in repo.fails(3, "read", "auth").replace("There is no", "no")
    repo.ok("updates", "--seen")


def test_a_key_writes_once(repo: Repo) -> None:
    begin(repo, to=PAT)
    words = ["say", "auth", "--title", "x", "--key", "job 7", "--to", "Cursor"]
    first = receipt(repo, *words)
    again = receipt(repo, *words)
    assert len(repo.entries("auth")) == 2
    assert again["notes"] == ["this key was used before: nothing new was written"]
    same = ("topic", "entry_id", "idx", "ball", "status", "saved")
    assert [again[one] for one in same] == [first[one] for one in same]
    # It counts for its thread alone, and for the making of it.
    words = ["new", "billing", "--title", "x", "--key", "job 7"]
    assert receipt(repo, *words)["entry_id"] == receipt(repo, *words)["entry_id"]
    # It is compared whole, and a text that quotes it does not use it.
    body = json.dumps({"key": "b"}, separators=(",", ":"))
    repo.ok("ack", "billing", "--body", body)
    for key in ("a", "ab", 'a"b', "b"):
        repo.ok("ack", "billing", "--key", key)
    assert len(repo.entries("billing")) == 6


# --- bad input ----------------------------------------------------------------

SAY = ("say", "auth", "--title", "x")


def test_an_entry_has_a_role_and_a_type(repo: Repo) -> None:
    """As in older tools, whose filters and rules look at both."""

    def labels() -> tuple[str, str]:
        entry = repo.json("read", "auth")["entries"][-1]
        return entry["role"], entry["type"]

    repo.ok("new", "auth", "-m", "Login")
    assert labels() == ("implementer", "Note")
    repo.ok("say", "auth", "-m", "x", "--role", "critic", "--type", "Plan")
    assert labels() == ("critic", "Plan")
    repo.ok("amend", "auth", "-m", "y")
    assert labels() == ("critic", "Plan")
    repo.ok("ack", "auth", "--kind", "decision", "-m", "As it was")
    assert labels() == ("implementer", "Decision")
    repo.ok("done", "auth", "-m", "Done")
    assert labels() == ("implementer", "Closure")
    repo.ok("ack", "auth", "-m", "Thanks")
    assert labels() == ("implementer", "Note")
    assert "implementer" not in repo.ok("read", "auth").out
    repo.ok("set-status", "auth", "OPEN")
    assert labels() == ("implementer", "Note")
    repo.ok("done", "auth", "-m", "Done", "--type", "Note", "--role", "pm")
    assert labels() == ("pm", "Note")
    repo.ok("set-status", "auth", "OPEN")
    repo.ok("close", "auth")
    assert labels() == ("implementer", "Closure")


BAD = {
    "climbing topic": (2, ("say", "../../x", "--title", "x"), ("cannot be", '"x"')),
    "absolute topic": (2, ("say", "/etc/passwd", "--title", "x"), ("etc-passwd",)),
    "empty topic": (2, ("say", "", "--title", "x"), ("cannot be a topic",)),
    "long topic": (2, ("say", "a" * 300, "--title", "x"), ("100 bytes", "a" * 100)),
    "emoji": (2, ("say", "🎾", "--title", "x"), ("letters and digits",)),
    "emoji with text": (2, ("say", "go 🎾 on", "--title", "x"), ('"go-on"',)),
    "newline in topic": (2, ("say", "a\nb", "--title", "x"), ('"a-b"',)),
    "dots": (2, ("say", "..", "--title", "x"), ("cannot be a topic",)),
    "reserved": (2, ("say", ".git", "--title", "x"), ('"git"',)),
    "two lines": (2, ("say", "auth", "--title", "a\nb"), ("single line", "--body")),
    "empty title": (2, ("say", "auth", "--title", " "), ("title is empty",)),
    "long title": (2, ("say", "auth", "--title", "x" * 501), ("500 bytes",)),
    "escape in title": (2, ("say", "auth", "--title", "\x1b[31m"), ("control",)),
    "no title": (2, ("say", "auth"), ("-m", "wc help say")),
    "role": (2, (*SAY, "--role", "boss"), ("'boss'", "planner", "scribe")),
    "type": (
        2,
        (*SAY, "--type", "Memo"),
        ("'Memo' is not an entry type", "Note", "Closure"),
    ),
    "status": (2, (*SAY, "--status", "DONE"), ("'DONE'", "IN_REVIEW", "CLOSED")),
    "set-status": (2, ("set-status", "auth", "DONE"), ("'DONE'", "BLOCKED")),
    "name": (2, (*SAY, "--as", "a\nb"), ("cannot be a name",)),
    "long name": (2, (*SAY, "--as", "a" * 300), ("200 bytes",)),
    "seat": (2, (*SAY, "--as", "Codex", "--seat", "a\tb"), ("cannot be a name",)),
    "key": (2, (*SAY, "--key", "a\nb"), ("single line",)),
    "time-out": (2, (*SAY, "--lock-timeout", "soon"), ("'soon'", "seconds")),
    "option": (2, (*SAY, "--colour"), ("--colour", "wc help say")),
    "word too many": (2, (*SAY, "more"), ("more", "wc help say")),
    "unknown thread": (3, ("ack", "nothing"), ('no thread "nothing"', "wc list")),
    "near thread": (3, ("ack", "autj"), ("Did you mean: auth",)),
    "beginning": (3, ("say", "aut", "--title", "x"), ('there is "auth"', "--new")),
    "separator": (3, ("say", "au-th", "--title", "x"), ('there is "auth"', "--new")),
    "command": (2, ("sya", "auth"), ("'sya'", "Did you mean: say", "wc help")),
}


@pytest.fixture(scope="module")
def busy(tmp_path_factory: pytest.TempPathFactory) -> Repo:
    """A repository with the thread ``auth``, that no test here changes."""
    repo = Machine(tmp_path_factory.mktemp("busy")).repo()
    repo.ok("new", "auth", "--title", "Login")
    return repo


@pytest.mark.parametrize("case", BAD)
def test_bad_input(busy: Repo, case: str) -> None:
    code, words, helpful = BAD[case]
    said = busy.fails(code, *words)
    for one in helpful:
        assert one in said, said
    assert len(busy.json("list")["threads"]) == 1
    assert len(busy.entries("auth")) == 1


def test_bad_input_as_json(busy: Repo) -> None:
    for case in ("climbing topic", "role", "near thread", "no title"):
        code, words, _ = BAD[case]
        done = busy.wc(*words, "--json")
        assert (done.code, done.out) == (code, "")
        assert list(done.error) == ["code", "message", "hint"]
        assert done.error["code"] == {2: "INVALID_INPUT", 3: "NOT_FOUND"}[code]
        assert done.error["message"]
        assert done.error["hint"]


def test_bytes_that_are_not_text_are_refused(busy: Repo) -> None:
    for words in (("--title", "a\udcffb"), ("--title", "x", "--body", "a\udcffb")):
        assert "UTF-8" in busy.fails(2, "say", "auth", *words)


def test_topics_equal_but_for_case_or_composition_are_one(repo: Repo) -> None:
    for topic in ("Auth", "AUTH", "auth", "aUTH"):
        repo.ok("say", topic, "--title", topic)
    repo.ok("say", "cafe\u0301", "--title", "x")
    repo.ok("ack", "caf\u00e9")
    topics = [one["topic"] for one in repo.json("list")["threads"]]
    assert topics == ["caf\u00e9", "auth"]
    assert repo.json("read", "AuTh")["entries"][3]["title"] == "aUTH"


def test_a_like_named_thread_wants_to_be_asked_for(repo: Repo) -> None:
    repo.ok("say", "auth-fix", "--title", "x")
    repo.fails(3, "say", "auth_fix", "--title", "x")
    repo.ok("say", "auth_fix", "--title", "x", "--new")
    # Numbers that differ are meant.
    repo.ok("say", "issue-12", "--title", "x")
    repo.ok("say", "issue-13", "--title", "x")
    # Who says `new` has said it.
    repo.ok("new", "auth.fix", "--title", "x")
    assert len(repo.json("list")["threads"]) == 5


@pytest.mark.parametrize(
    ("existing", "words", "near"),
    [
        (["login"], ["longi", "-m", "x"], "login"),
        (["login"], ["lgin5", "-m", "x"], ""),
        (["login"], ["login-v2", "-m", "x"], ""),
        (["login-v2"], ["login", "-m", "x"], ""),
        (["step-10"], ["step-1", "-m", "x"], ""),
        (["docs"], ["doc", "-m", "x"], "docs"),
        (["docs"], ["do", "-m", "x"], ""),
        (["docs", "docks"], ["doc", "-m", "x"], ""),
    ],
)
def test_say_starts_no_thread_beside_a_near_one(
    repo: Repo, existing: list[str], words: list[str], near: str
) -> None:
    for topic in existing:
        repo.ok("new", topic, "-m", "T")
    if not near:
        repo.ok("say", *words)
        assert len(repo.json("list")["threads"]) == len(existing) + 1
        return
    said = repo.fails(3, "say", *words)
    assert f'but there is "{near}"' in said
    assert "--new" in said
    assert [one["topic"] for one in repo.json("list")["threads"]] == existing
    repo.ok("say", *words, "--new")


@pytest.mark.parametrize("is_empty", [True, False])
def test_what_continues_work_starts_no_thread(repo: Repo, *, is_empty: bool) -> None:
    if not is_empty:
        repo.ok("new", "auth", "-m", "Login")
    for words in (
        ("close", "zzz", "-m", "Fixed"),
        ("close", "zzz"),
        ("close", "zzz", "-m", "Fixed", "--decision", "No"),
        ("done", "zzz", "-m", "Fixed"),
        ("ack", "zzz", "-m", "Fixed"),
        ("handoff", "zzz", "--to", "anyone"),
        ("take", "zzz"),
        ("answer", "zzz", "-m", "Fixed"),
        ("ask", "zzz", "--to", "Codex", "-m", "Fixed?", "--force"),
    ):
        said = repo.fails(3, *words)
        assert 'no thread "zzz"' in said
        assert len(repo.json("list")["threads"]) == (not is_empty)


def test_two_threads_in_one_command_are_refused(repo: Repo) -> None:
    repo.ok("new", "x2", "-m", "Two")
    repo.ok("new", "x3", "-m", "Three")
    for command in ("close", "done", "ack", "say", "take"):
        said = repo.fails(2, command, "x2", "x3")
        assert "-m x3" in said
        assert [len(repo.entries(topic)) for topic in ("x2", "x3")] == [1, 1]
        assert [one["status"] for one in repo.json("list")["threads"]] == ["OPEN"] * 2


def test_close_takes_no_single_word_for_a_text(repo: Repo) -> None:
    repo.ok("new", "x2", "-m", "Two")
    assert "wc close x2 -m x4" in repo.fails(2, "close", "x2", "x4")
    repo.ok("close", "x2", "Not needed")
    assert repo.entries("x2")[-1]["title"] == "Not needed"


def test_a_lock_that_someone_holds(repo: Repo) -> None:
    import fcntl

    repo.ok("say", "auth", "--title", "x", env={"WATERCOOLER_AGENT": "Codex"})
    path = repo.store / ".local/locks/threads/auth"
    with path.open("r+") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        machine = os.uname().nodename
        lock.write(f"{os.getpid()}\n2026-01-01T00:00:00Z\nCursor (Pat)\n{machine}\n")
        lock.flush()
        said = repo.fails(5, "say", "auth", "--title", "y", "--lock-timeout", "0.1")
        for one in ("Cursor (Pat)", str(os.getpid()), "2026-01-01", "--lock-timeout"):
            assert one in said
        repo.ok("say", "billing", "--title", "another thread is not concerned")
    repo.ok("say", "auth", "--title", "y")


# --- what an entry is about -------------------------------------------------


ABOUT = [
    *("--file", "src/auth.py", "--file", "b c.py", "--pr", "12", "--pr", "#7"),
    *("--commit", "3F2A1B9C", "--summary", "It is fast now"),
]
RECORDED = {
    "summary": "It is fast now",
    "file_refs": ["src/auth.py", "b c.py"],
    "pr_refs": [12, 7],
    "commit_refs": ["3f2a1b9c"],
}


@pytest.mark.parametrize("command", ["new", "say", "ack"])
def test_what_an_entry_is_about(repo: Repo, command: str) -> None:
    if command == "ack":
        repo.ok("new", "auth", "--title", "First")
    repo.ok(command, "auth", "--title", "T", *ABOUT)
    line = repo.entries("auth")[-1]
    assert {name: line[name] for name in RECORDED} == RECORDED
    shown = repo.json("read", "auth", "--peek")["entries"][-1]
    assert {name: shown[name] for name in RECORDED} == RECORDED
    assert (
        "T\nsummary: It is fast now\nabout: src/auth.py, b c.py, #12, #7, 3f2a1b9\n"
        in repo.ok("read", "auth", "--peek").out
    )
    assert "T (src/auth.py, b c.py, #12, and 2 more)" in repo.ok("updates").out


def test_the_page_shows_what_an_entry_is_about(repo: Repo) -> None:
    repo.ok("new", "auth", "--title", "First", "--body", "Old")
    repo.settled("say", "auth", "--title", "T", *ABOUT)
    page = (repo.store / "threads/auth.md").read_text()
    assert (
        "Title: T\nSummary: It is fast now\nFiles: src/auth.py, b c.py\n"
        "PRs: #12, #7\nCommits: 3f2a1b9c\n\n" in page
    )
    before = repo.json("read", "auth", "--peek")["entries"]
    repo.log("auth").rename(repo.path.parent / "log")
    assert repo.json("read", "auth", "--peek")["entries"] == before


def test_a_page_of_an_older_version_is_not_a_finding(repo: Repo) -> None:
    """It is rendered again when the thread is written to."""
    repo.settled("new", "auth", "--title", "T", *ABOUT)
    page = repo.store / "threads/auth.md"
    lines = page.read_text().replace('"version":2', '"version":1').split("\n")
    labels = ("Summary:", "Files:", "PRs:", "Commits:")
    text = "\n".join(line for line in lines if not line.startswith(labels))
    about = json.dumps(RECORDED)[1:-1]
    text = text.replace('-->\n<!-- wc {"', f'-->\n<!-- wc {{{about},"')
    page.write_text(text)
    entries = repo.json("read", "auth", "--peek")["entries"]
    repo.git("-C", str(repo.store), "commit", "-qam", "as an older wc")
    assert repo.ok("doctor").out
    repo.ok("doctor", "--repair")
    assert page.read_text() == text
    page.write_text(text.replace("Type: Note", "Type: Plan"))
    assert "threads/auth.md" in repo.wc("doctor").out
    repo.settled("ack", "auth")
    assert '"version":2' in page.read_text()
    assert repo.json("read", "auth", "--peek")["entries"][:1] == entries


def test_files_are_recorded_from_the_top(repo: Repo) -> None:
    (repo.path / "src").mkdir()
    (repo.path / "src/auth.py").touch()
    for folder, written, recorded in (
        (".", "src/auth.py", "src/auth.py"),
        (".", "./src/auth.py", "src/auth.py"),
        (".", "src/", "src"),
        ("src", "auth.py", "src/auth.py"),
        ("src", "../lib/x.py", "lib/x.py"),
        ("src", "src/auth.py", "src/auth.py"),
        ("src", "planned.py", "src/planned.py"),
        (".", "{top}/src/auth.py", "src/auth.py"),
        (".", "../other/x.py", "../other/x.py"),
        (".", "/etc/hosts", "/etc/hosts"),
    ):
        path = written.format(top=repo.path)
        repo.ok("say", "auth", "--title", "T", "--file", path, cwd=folder)
        assert repo.entries("auth")[-1]["file_refs"] == [recorded]


def test_what_no_entry_can_be_about(repo: Repo) -> None:
    for words, message in (
        (("--file", ""), "The path is empty."),
        (("--file", "a\nb"), "A path is a single line"),
        (("--pr", "twelve"), "'twelve' is not a pull request."),
        (("--pr", "0"), "'0' is not a pull request."),
        (("--commit", "no-branch"), "'no-branch' is not a commit."),
        (("--commit", "../../HEAD"), "'../../HEAD' is not a commit."),
        (("--commit", "--all"), "'--all' is not a commit."),
        (("--commit", "abc"), "4 or more digits"),
        (("--summary", "a\nb"), "A summary is a single line"),
        (("--summary", "x" * 2001), "The summary is longer than 2000 bytes."),
    ):
        assert message in repo.fails(2, "say", "auth", "--title", "T", *words)
        assert not repo.log("auth").exists()


def test_a_commit_is_recorded_by_its_id(repo: Repo) -> None:
    (repo.path / "other.txt").touch()
    repo.git("add", ".")
    repo.git("commit", "-qm", "Two")
    head, first = repo.git("rev-parse", "HEAD"), repo.git("rev-parse", "HEAD^")
    repo.git("branch", "old/first", first)
    repo.git("update-ref", "refs/remotes/origin/main", first)
    repo.git("tag", "-a", "v1", first, "-m", "v1")
    names = (
        *("HEAD", "main", "@", "old/first", "origin/main", first[:8].upper()),
        *("HEAD~1", "v1", head[:7], head),
    )
    words = [word for name in names for word in ("--commit", name)]
    repo.ok("new", "auth", "--title", "T", *words)
    assert repo.entries("auth")[-1]["commit_refs"] == [head, first]
    # A commit of another clone.
    repo.ok("say", "auth", "--title", "T", "--commit", "0123ABC")
    assert repo.entries("auth")[-1]["commit_refs"] == ["0123abc"]
    # As git wrote it, or packed.
    repo.git("pack-refs", "--all")
    repo.ok("say", "auth", "--title", "T", "--commit", "old/first")
    assert repo.entries("auth")[-1]["commit_refs"] == [first]


@pytest.mark.parametrize(
    ("is_repository", "hint"),
    [(True, "There is no commit here yet."), (False, "no git repository here")],
)
def test_where_there_is_no_commit_none_is_proposed(
    machine: Machine, hint: str, *, is_repository: bool
) -> None:
    folder = machine.root / "new"
    folder.mkdir()
    if is_repository:
        machine.git("init", "-q", cwd=folder)
    repo = Repo(machine, folder)
    assert hint in repo.fails(2, "say", "auth", "--title", "T", "--commit", "HEAD")


# --- the text, as git has it --------------------------------------------------


def texts(repo: Repo, *words: str, **how: Any) -> tuple[str, str]:
    """The title and the body of what these words write."""
    repo.ok("say", "auth", *words, **how)
    entry = repo.entries("auth")[-1]
    return entry["title"], entry["body"]


def test_the_text_of_an_entry(repo: Repo) -> None:
    (repo.path / "message").write_text("First\n\nSecond\n    third\n")
    for words, title, body in (
        (["-m", "Title"], "Title", ""),
        (["-m", "Title", "-m", "One", "-m", "Two"], "Title", "One\n\nTwo"),
        (["--message", "Title", "-b", "Text"], "Title", "Text"),
        (["-mTitle\n\nText"], "Title", "Text"),
        (["-t", "Title", "-b", "Text"], "Title", "Text"),
        (["-m", "@file", "-m", "-"], "@file", "-"),
        (["-F", "message"], "First", "Second\n    third"),
        (["-t", "Title", "-F", "message"], "Title", "First\n\nSecond\n    third\n"),
    ):
        assert texts(repo, *words) == (title, body)


def test_a_message_from_standard_input(repo: Repo) -> None:
    assert texts(repo, "-F", "-", feed=b"First\n\nSecond\n") == ("First", "Second")


def test_texts_that_contradict_each_other(repo: Repo) -> None:
    for words, named in (
        (["-m", "x", "-t", "y"], "-m and --title"),
        (["-m", "x", "-m", "y", "-b", "z"], "--body and a second -m"),
        (["-F", "-", "-m", "y"], "-F and -m"),
        (["-F", "-", "-b", "y"], "-F and --body"),
    ):
        assert named in repo.fails(2, "say", "auth", *words, feed=b"text")


def test_every_command_with_a_text_takes_it_as_git_does(repo: Repo) -> None:
    repo.ok("new", "auth", "-m", "Begin", "-m", "Text")
    repo.ok("ask", "auth", "-m", "Which?", "-m", "Why?", "--to", "Codex", "--force")
    repo.ok("answer", "auth", "-m", "This.", "--as", "Codex")
    repo.ok("ack", "auth", "-m", "Seen", "-m", "Later.")
    repo.ok("amend", "auth", "-m", "Read", "-m", "Now.")
    repo.ok("set-status", "auth", "BLOCKED", "-m", "no key")
    repo.ok("done", "auth", "-m", "Done", "--to", "Codex")
    repo.ok("take", "auth", "-m", "no answer")
    repo.ok("handoff", "auth", "-m", "The rest", "--to", "Codex")
    lines = [(entry["title"], entry["body"]) for entry in repo.entries("auth")]
    assert lines == [
        ("Begin", "Text"),
        ("Which?", "Why?"),
        ("This.", ""),
        ("Seen", "Later."),
        ("Read", "Now."),
        ("Status: BLOCKED", ""),
        ("Done", ""),
        ("Took the ball", ""),
        ("Handoff to Codex", "The rest"),
    ]


def _named(machine: Machine) -> Repo:
    repo = machine.repo()
    repo.git("config", "user.name", "Pat Doe")
    repo.git("config", "user.email", "Doe@Example.com")
    repo.ok("new", "auth", "--title", "T", "--as", "Gemini CLI", "--to", "me")
    return repo


@pytest.mark.parametrize(
    ("to", "expected"),
    [
        ("Pat", "Pat Doe"),
        ("pat", "Pat Doe"),
        ("@Pat", "Pat Doe"),
        ("doe@example.com", "Pat Doe"),
        ("@Codex", "Codex"),
        ("Codex (Pat)", "Codex (Pat Doe)"),
        ("noreply@anthropic.com", "Claude Code"),
        ("Pat Doe", "Pat Doe"),
    ],
)
def test_a_person_is_understood_by_part_of_the_name(
    machine: Machine, to: str, expected: str
) -> None:
    repo = _named(machine)
    repo.ok("handoff", "auth", "--to", to, "--as", "Gemini CLI")
    assert repo.json("read", "auth")["ball"] == expected


def test_a_short_name_is_understood_where_no_ball_is_passed(machine: Machine) -> None:
    repo = _named(machine)
    repo.ok("handoff", "auth", "--to", "Pat", "--as", "Gemini CLI")
    repo.ok("new", "docs", "--title", "T", "--as", "Codex")
    for ball, topic in (("Pat", "auth"), ("@Pat", "auth"), ("@Codex", "docs")):
        threads = repo.json("list", "--ball", ball)["threads"]
        assert [thread["topic"] for thread in threads] == [topic]
    # Whoever says that they are Pat is no other participant.
    assert repo.json("whoami", "--as", "Pat")["name"] == "Pat Doe"


def test_a_short_name_of_two_people_is_not_understood(machine: Machine) -> None:
    repo = _named(machine)
    repo.ok("say", "auth", "-m", "Hello", env={"WATERCOOLER_USER": "Pat Roe"})
    passing = ("handoff", "auth", "--to", "Pat", "--as", "Gemini CLI")
    error = repo.fails(3, *passing, "--reason", "Yours")
    for part in ("Nobody here is called 'Pat'", "Pat Doe", "Pat Roe"):
        assert part in error
    repo.ok("say", "auth", "-m", "Hello", env={"WATERCOOLER_USER": "Pat"})
    # A name that someone has is theirs, whoever else has a longer one.
    repo.ok(*passing, "--reason", "Yours")
    assert repo.json("read", "auth")["ball"] == "Pat"
