"""Questions, by hand: who is told, who may answer, and what their asker waits for."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.cli.claims.test_claims_between_clones import Clones
from tests.contract.inprocess import Here

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Machine

CLAUDE, CODEX, GEMINI = ("--as", "Claude"), ("--as", "Codex"), ("--as", "Gemini")
ASK = ("ask", "login", "--to", "Codex", "--title", "Which hash?")


@pytest.fixture
def repo(machine: Machine) -> Here:
    """A thread whose ball Claude has, and another that Codex has written in."""
    repo = Here(machine, machine.repo().path)
    repo.ok("new", "login", "--title", "Log in", *CLAUDE)
    repo.ok("new", "logout", "--title", "Log out", "--to", "anyone", *CODEX)
    return repo


def open_questions(repo: Here) -> list[str]:
    """The questions that the brief of Codex shows."""
    questions = repo.json("brief", *CODEX)["questions"]
    return [question["title"] for question in questions]


@pytest.mark.parametrize(
    "words", [ASK, ("say", "login", "--kind", "question", *ASK[2:])], ids=["ask", "say"]
)
def test_a_question_reaches_who_is_asked_and_moves_no_ball(
    repo: Here, words: tuple[str, ...]
) -> None:
    done = repo.ok(*words, *CLAUDE)
    assert "Codex is asked; to wait for the answer: wc wait login --new" in done.err
    thread = repo.json("read", "login")
    assert thread["ball"] == "Claude Code (Pat)"
    assert (thread["entries"][1]["kind"], thread["entries"][1]["asks"]) == (
        *("question", "Codex"),
    )
    assert open_questions(repo) == ["Which hash?"]
    brief = repo.ok("brief", *CODEX).out
    assert 'login · "Claude Code (Pat)" asks you' in brief
    assert "  > Which hash?" in brief
    rows = {row["topic"]: row for row in repo.json("list", *CODEX)["threads"]}
    assert rows["login"]["asked_by"] == ["Claude Code (Pat)"]
    assert "(asks you: Claude Code) Log in" in repo.ok("list", *CODEX).out
    assert "asks you" not in repo.ok("list", *GEMINI).out
    assert "asks you" not in repo.ok("brief", *GEMINI).out


@pytest.mark.parametrize(
    ("words", "who"),
    [
        (("answer", "login", "--title", "Argon2"), CODEX),
        (("answer", "login", "1", "--title", "Argon2"), CODEX),
        (("answer", "login", "#1", "--body", "Argon2"), CODEX),
        (("say", "login", "--answers", "1", "--title", "Argon2"), CODEX),
        (("ack", "login", "--answers", "1"), CODEX),
        (("answer", "login", "--withdraw"), CLAUDE),
        (("answer", "login", "--title", "I see: Argon2"), CLAUDE),
        (("answer", "login", "1", "--title", "Argon2", "--force"), GEMINI),
        (("retract", "login"), CLAUDE),
        (("set-status", "login", "CLOSED", "--force"), CLAUDE),
    ],
)
def test_what_ends_a_question(
    repo: Here, words: tuple[str, ...], who: tuple[str, ...]
) -> None:
    repo.ok(*ASK, *CLAUDE)
    repo.ok(*words, *who)
    assert open_questions(repo) == []
    entry = repo.json("read", "login", "--history")["entries"][-1]
    if entry["action"] in {"ack", "say"}:
        assert entry["answers"] == repo.json("read", "login")["entries"][1]["id"]


def test_an_amended_question_is_asked_in_its_new_words(repo: Here) -> None:
    repo.ok(*ASK, *CLAUDE)
    repo.ok("amend", "login", "--title", "Which hash, and why?", *CLAUDE)
    assert open_questions(repo) == ["Which hash, and why?"]


@pytest.mark.parametrize(
    "words",
    [
        ("handoff", "login", "--to", "Gemini"),
        ("handoff", "login", "--to", "anyone"),
        ("say", "login", "--title", "T", "--to", "Gemini"),
        ("say", "login", "--title", "T", "--status", "CLOSED"),
        ("done", "login", "--title", "T"),
        ("set-status", "login", "CLOSED"),
    ],
)
def test_the_asker_waits_for_the_answer(repo: Here, words: tuple[str, ...]) -> None:
    repo.ok(*ASK, *CLAUDE)
    repo.ok("ack", "login", "--title", "About Gemini", *GEMINI)
    before = repo.json("read", "login")
    done = repo.wc(*words, *CLAUDE)
    assert done.code == 4
    assert "Codex has not answered your question #1 'Which hash?'" in done.err
    assert "wc answer login 1 --withdraw" in done.err
    assert repo.json("read", "login") == before
    repo.ok(*words, "--force", *CLAUDE)
    entry = repo.json("read", "login")["entries"][-1]
    assert entry["reason"] == "without the answer of Codex to #1"


@pytest.mark.parametrize(
    ("words", "who"),
    [
        (("handoff", "login", "--to", "Codex"), CLAUDE),
        (("say", "login", "--title", "T", "--to", "Codex (Pat)"), CLAUDE),
        (("set-status", "login", "BLOCKED"), CLAUDE),
        (("ack", "login"), CLAUDE),
        (("take", "login", "--reason", "It is urgent"), GEMINI),
        (("handoff", "login", "--to", "Pat", "--reason", "Away"), GEMINI),
    ],
)
def test_what_the_question_does_not_hold_up(
    repo: Here, words: tuple[str, ...], who: tuple[str, ...]
) -> None:
    repo.ok(*ASK, *CLAUDE)
    repo.ok(*words, *who)
    assert open_questions(repo) == ["Which hash?"]


def test_after_the_answer_the_ball_goes_on(repo: Here) -> None:
    repo.ok(*ASK, *CLAUDE)
    repo.ok("ask", "login", "--to", "Codex", "--title", "And the salt?", *CLAUDE)
    repo.ok("answer", "login", "1", "--title", "Argon2", *CODEX)
    refused = repo.wc("handoff", "login", "--to", "Pat", *CLAUDE)
    assert (refused.code, "#2 'And the salt?'" in refused.err) == (4, True)
    repo.ok("answer", "login", "--title", "16 bytes", *CODEX)
    repo.ok("handoff", "login", "--to", "Pat", *CLAUDE)


def test_mistakes_write_nothing(repo: Here) -> None:
    repo.ok(*ASK, *CLAUDE)
    before = repo.json("list")["threads"]
    for words, who, code, words_of_error in (
        (("ask", "login", "--to", "anyone", "--title", "T"), CLAUDE, 2, "--to NAME"),
        (("ask", "login", "--to", "me", "--title", "T"), CLAUDE, 2, "someone else"),
        (("ask", "login", "--to", "asker", "--title", "T"), CLAUDE, 2, "someone else"),
        (("ask", "login", "--to", "Nobdy", "--title", "T"), CLAUDE, 3, "--force"),
        (("ask", "nothing", "--to", "Codex", "--title", "T"), CLAUDE, 3, "nothing"),
        (("answer", "login", "0", "--title", "T"), CODEX, 3, "#1 'Which hash?'"),
        (("answer", "login", "99", "--title", "T"), CODEX, 3, "#1 'Which hash?'"),
        (("answer", "logout", "--title", "T"), CODEX, 3, "wc ack logout"),
        (("answer", "login", "--title", "T"), GEMINI, 3, "no open question to you"),
        (("answer", "login", "1", "--title", "T"), GEMINI, 4, "--force"),
        (("answer", "login", "1", "--withdraw"), CODEX, 4, "withdraw"),
        (("answer", "login"), CODEX, 2, "title"),
        (("say", "new-one", "--answers", "1", "--title", "T"), CODEX, 3, "new-one"),
    ):
        done = repo.wc(*words, *who)
        assert done.code == code, done
        assert words_of_error in done.err
        assert repo.json("list")["threads"] == before


def test_of_several_questions_one_has_to_be_named(repo: Here) -> None:
    for title in ("Which hash?", "Which salt?"):
        repo.ok("ask", "login", "--to", "Codex", "--title", title, *CLAUDE)
    done = repo.wc("answer", "login", "--title", "T", *CODEX)
    assert done.code == 2
    assert "#1 'Which hash?' to Codex; #2 'Which salt?' to Codex" in done.err


@pytest.mark.parametrize("ball", ["Claude", "Codex"])
@pytest.mark.parametrize("action", ["say", "done"])
def test_what_who_was_asked_says_next_is_the_answer(
    repo: Here, action: str, ball: str
) -> None:
    repo.ok(*ASK, *CLAUDE)
    repo.ok("say", "login", "--title", "I wait", "--to", "me", *CLAUDE)
    if ball == "Codex":
        repo.ok("handoff", "login", "--to", ball, *CLAUDE)
    done = repo.ok(action, "login", "--title", "Argon2", *CODEX)
    assert "note: #1 'Which hash?' is answered" in done.err
    thread = repo.json("read", "login")
    entry = thread["entries"][-1]
    assert (entry["action"], entry["answers"]) == (action, thread["entries"][1]["id"])
    assert thread["ball"] == "Claude Code (Pat)"
    assert open_questions(repo) == []


@pytest.mark.parametrize("action", ["say", "done"])
def test_of_several_questions_the_receipt_names_each(repo: Here, action: str) -> None:
    for title in ("Which hash?", "Which salt?"):
        repo.ok("ask", "login", "--to", "Codex", "--title", title, *CLAUDE)
    done = repo.ok(action, "login", "--title", "Argon2", *CODEX)
    assert (
        "note: #1 'Which hash?', #2 'Which salt?' are still open; to answer one: "
        "wc answer login N -m '…'"
    ) in done.err
    assert open_questions(repo) == ["Which hash?", "Which salt?"]


@pytest.mark.parametrize(
    ("words", "who"),
    [
        (("ack", "login"), CODEX),
        (("say", "login", "--kind", "note", "--title", "Hm"), CODEX),
        (("say", "login", "--approve"), CODEX),
    ],
)
def test_a_remark_or_a_review_leaves_the_question_open(
    repo: Here, words: tuple[str, ...], who: tuple[str, ...]
) -> None:
    repo.ok(*ASK, *CLAUDE)
    done = repo.ok(*words, *who)
    assert (
        "note: #1 'Which hash?' is still open; to answer it: wc answer login -m '…'"
    ) in done.err
    assert open_questions(repo) == ["Which hash?"]


@pytest.mark.parametrize(
    ("words", "who"),
    [
        (("say", "login", "--title", "Go on"), GEMINI),
        (("say", "login", "--title", "About it", "--to", "me"), CLAUDE),
        (("set-status", "login", "BLOCKED"), CODEX),
    ],
)
def test_an_entry_that_cannot_be_an_answer_says_nothing_of_questions(
    repo: Here, words: tuple[str, ...], who: tuple[str, ...]
) -> None:
    repo.ok(*ASK, *CLAUDE)
    done = repo.ok(*words, *who)
    assert "Which hash?" not in done.err
    assert open_questions(repo) == ["Which hash?"]


def test_an_agent_does_not_answer_its_own_question_to_all_of_its_kind(
    repo: Here,
) -> None:
    seated = ("--as", "Codex@left")
    repo.ok("ask", "login", "--to", "Codex", "--title", "Who is free?", *seated)
    repo.ok("say", "login", "--title", "Somebody is needed", *seated)
    assert open_questions(repo) == ["Who is free?"]
    repo.ok("say", "login", "--title", "I am", *CODEX)
    assert open_questions(repo) == []


def test_a_store_where_only_the_holder_writes_names_the_answer(repo: Here) -> None:
    repo.ok("config", "set", "ball.enforce", "refuse")
    repo.ok(*ASK, *CLAUDE)
    done = repo.wc("say", "login", "--title", "Argon2", *CODEX)
    assert done.code == 4
    assert "Answer the question with: wc answer login" in done.err
    repo.ok("answer", "login", "--title", "Argon2", *CODEX)


def test_nobody_can_be_asked_in_a_closed_thread(repo: Here) -> None:
    repo.ok("set-status", "login", "CLOSED", *CLAUDE)
    done = repo.wc(*ASK, *CLAUDE)
    assert (done.code, "wc set-status login OPEN" in done.err) == (4, True)
    # As a remark it is one of the things that may still be said.
    repo.ok("say", "login", "--kind", "question", "--title", "Why?", *CLAUDE)


def test_a_question_of_a_closed_thread_is_open_again_with_it(repo: Here) -> None:
    repo.ok(*ASK, *CLAUDE)
    repo.ok("set-status", "login", "CLOSED", "--force", *CLAUDE)
    assert "asks you" not in repo.ok("list", *CODEX).out
    repo.ok("set-status", "login", "OPEN", *CLAUDE)
    assert open_questions(repo) == ["Which hash?"]


def test_who_waits_is_woken_once_by_a_question(repo: Here) -> None:
    repo.ok(*ASK, *CLAUDE)
    done = repo.ok("wait", "--timeout", "0", *CODEX)
    assert "Which hash?" in done.out
    assert "you are asked; to answer: wc answer login" in done.err
    assert repo.wc("wait", "--timeout", "0", *CODEX).code == 10
    assert repo.wc("wait", "--timeout", "0", *GEMINI).code == 10


def test_a_prompt_says_once_that_an_agent_was_asked(repo: Here) -> None:
    def hook(event: str) -> str:
        sent = {"session_id": "s1", "cwd": str(repo.path)}
        words = ("brief", "--hook", event, "--client", "codex")
        return repo.ok(*words, feed=json.dumps(sent).encode()).out

    hook("session-start")
    repo.ok(*ASK, *CLAUDE)
    assert '"login": a question to you' in hook("user-prompt")
    assert hook("user-prompt") == ""
    assert "  > Which hash?" in hook("session-start")


def test_a_brief_of_many_questions_is_cut(repo: Here) -> None:
    for number in range(8):
        title = f"Question {number}?"
        repo.ok("ask", "login", "--to", "Codex", "--title", title, *CLAUDE)
    out = repo.ok("brief", *CODEX).out
    assert out.count(" asks you") == 6
    assert "- and 2 more: wc list --open" in out
    assert repo.json("brief", *CODEX)["question_count"] == 8


def test_clones_agree_on_what_is_open(tmp_path: Path) -> None:
    clones = Clones(tmp_path)
    clones.pat.ok("new", "login", "--title", "T", *CLAUDE)
    for title in ("First?", "Second?", "Third?"):
        clones.pat.ok("ask", "login", "--to", "Codex", "--title", title, *CLAUDE)
    for repo in (clones.pat, clones.sam):
        repo.ok("sync")
    away = clones.hub.with_name("away")
    clones.hub.rename(away)
    clones.sam.ok("answer", "login", "1", "--title", "Yes", *CODEX)
    clones.pat.ok("answer", "login", "1", "--withdraw", *CLAUDE)
    clones.pat.ok("answer", "login", "2", "--withdraw", *CLAUDE)
    away.rename(clones.hub)
    for repo in (clones.sam, clones.pat, clones.sam):
        repo.ok("sync")
    for repo in (clones.pat, clones.sam):
        assert open_questions(repo) == ["Third?"]


def test_a_number_that_is_no_open_question_is_the_text(repo: Here) -> None:
    repo.ok("new", "quiz", "-m", "T", *CLAUDE)
    repo.ok("ask", "quiz", "--to", "Pat", "--force", "-m", "410 or 301?", *CLAUDE)
    assert "#1 '410 or 301?' is answered" in repo.ok("answer", "quiz", "410").err
    assert repo.entries("quiz")[-1]["title"] == "410"
    for title in ("Red?", "Blue?"):
        repo.ok("ask", "quiz", "--to", "Pat", "-m", title, *CLAUDE)
    for text in ("text", "410", "3.5"):
        said = repo.fails(2, "answer", "quiz", text)
        assert "2 questions that you could mean" in said
        assert "Say which" in said
    assert "not an open question" in repo.fails(3, "answer", "quiz", "9", "Red")
    assert "No title" in repo.fails(2, "answer", "quiz", "4")
    assert "#4 'Blue?' is answered" in repo.ok("answer", "quiz", "4", "410").err
