"""What a person types before reading the documentation: the obvious form of a command
does what was meant, or the answer names the command that does."""

from __future__ import annotations

import re
import shlex
import shutil
from typing import NamedTuple

import pytest

from tests.conftest import Machine
from tests.contract.inprocess import Here


class Guess(NamedTuple):
    """A command line as it is guessed, without `wc`, and what shows that it was
    understood: a pattern in its own output, or in that of ``then``."""

    typed: str
    shows: str
    then: str = ""


# `login` is the thread of this worktree, and Pat has its ball.
UNDERSTOOD = (
    # Texts without -m.
    Guess("new typo 'A typo in the title'", "A typo in the title", "read typo"),
    Guess("say login 'It works'", r"It works", "read login"),
    Guess("say 'It works now'", r"It works now", "read login"),
    Guess("say login It works", r"say login 'It works'"),
    Guess("done login 'All merged'", r"All merged", "read login"),
    Guess("ack login 'Looks fine'", r"Looks fine", "read login"),
    Guess("close slow 'Not needed'", "Not needed", "read slow"),
    Guess("take free 'Nobody else will'", "ball: Pat", "read free"),
    Guess("amend api 'Which browsers do we support?'", "do we support", "read api"),
    Guess("note 'rebasing, back at 3'", "rebasing", "worktrees"),
    # Names without --to.
    Guess("handoff 'Claude Code'", "ball: Claude Code", "read login"),
    Guess("handoff login 'Claude Code'", "ball: Claude Code", "read login"),
    Guess("handoff login --to Codex", "ball: Codex", "read login"),
    Guess("handoff Codex", "ball: Codex", "read login"),
    Guess("handoff login Codex -m 'Please review'", "Please review", "read login"),
    Guess("handoff login Codex 'Please review'", "Please review", "read login"),
    Guess("say login 'Please review' --to Codex", "ball: Codex", "read login"),
    Guess("ask login Codex 'Which one?'", "Which one.*Codex", "read login --json"),
    Guess("ask Codex 'Which one?'", "Which one.*Codex", "read login --json"),
    Guess("ask login 'Which one?' --to Codex", "Which one.*Codex", "read login --json"),
    Guess("answer api 'All but IE'", "All but IE", "read api"),
    Guess("answer 'All but IE'", "wc answer TOPIC|All but IE", "read api"),
    # Arguments without their option.
    Guess("link slow api", "wc link slow relates-to api"),
    Guess("ready slow", "its status is BLOCKED"),
    Guess("say login 'It runs' --tick 1", "It runs", "read login"),
    Guess("move login feature", "login", "list --branch feature"),
    Guess("rename login passkey", r"^passkey: Log in", "read passkey"),
    Guess("guidance handoff 'Run the tests'", "Run the tests", "guidance list"),
    Guess("config ball.enforce", "warn"),
    Guess("config ball.enforce refuse", "refuse", "config get ball.enforce"),
    Guess("tag login", "small"),
    Guess("tag login urgent", "urgent", "tag login"),
    Guess("ready login", "login"),
    Guess("wake off --until friday", "off until", "wake"),
    # Options of other tools.
    Guess("read login -n 1", "#2.*Tags"),
    Guess("list -n 1", "more: wc list"),
    Guess("list -a", "old"),
    Guess("list blocked", "wc list --status BLOCKED"),
    Guess("updates 3h", "login"),
    Guess("search passkey", "login"),
    Guess("seen login", "wc read login --seen"),
    # Other words.
    Guess("show login", "Log in with a passkey"),
    Guess("status", "login"),
    Guess("status login", "login.*OPEN"),
    Guess("status slow open", "wc set-status slow OPEN"),
    Guess("reopen old", "wc set-status old OPEN"),
    Guess("undo", "wc retract"),
    Guess("delete slow", "wc close slow"),
    Guess("todo", "wc list --mine"),
    Guess("next", "wc ready"),
    Guess("watch", "wc board"),
    Guess("web", "wc-observe web"),
    Guess("tui", "wc board"),
    Guess("mcp", "wc install"),
)

# `--closed` is an option of wc reindex, and 1 may be the first entry or the second.
NOT_UNDERSTOOD = (
    Guess("list --closed", "No such option: --closed.*See: wc help list"),
    Guess("read login 1", "Too many arguments: 1.*See: wc help read"),
)
LEAST_UNDERSTOOD, TRIES = 51, 56


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Here:
    machine = Machine(tmp_path_factory.mktemp("guesses"))
    repo = Here(machine, machine.repo().path)
    for line in (
        "new login -m 'Log in with a passkey' -m '- [ ] tests' --to 'Claude Code'",
        "say login -m 'It runs' --as 'Claude Code'",
        "tag login small",
        "new slow -m 'Search is slow' --branch search --status BLOCKED",
        "new api -m 'Two browsers' --branch api",
        "ask api -m 'Which browsers?' --to Pat --as Codex",
        "amend api -m 'Which browsers then?' --as Codex",
        "say api -m 'I wait' --kind note --as Pat",
        "new old -m 'An old one'",
        "close old",
        "new free -m 'First come' --to anyone --branch free",
    ):
        repo.ok(*shlex.split(line))
    shutil.copytree(repo.store, machine.root / "before", symlinks=True)
    return repo


@pytest.fixture
def repo(world: Here) -> Here:
    """The same threads again for each guess."""
    store = world.store
    shutil.rmtree(store)
    shutil.copytree(world.machine.root / "before", store, symlinks=True)
    return world


def answer(repo: Here, guess: Guess) -> str:
    """What a guess prints, or what shows its effect."""
    done = repo.wc(*shlex.split(guess.typed))
    return repo.wc(*shlex.split(guess.then)).out if guess.then else done.out + done.err


def test_nearly_all_of_sixty_guesses_are_understood() -> None:
    assert len(UNDERSTOOD) >= LEAST_UNDERSTOOD
    tries = {guess.typed for guess in (*UNDERSTOOD, *NOT_UNDERSTOOD)}
    assert len(tries) == TRIES


@pytest.mark.parametrize(
    "guess", [*UNDERSTOOD, *NOT_UNDERSTOOD], ids=lambda guess: guess.typed
)
def test_a_guess_is_answered(repo: Here, guess: Guess) -> None:
    shown = answer(repo, guess)
    assert re.search(guess.shows, shown, re.DOTALL), shown


def test_a_text_without_quotation_marks_starts_no_thread(repo: Here) -> None:
    error = repo.fails(3, "say", "It", "works")
    assert "wc new it -m works" in error
    assert "wc say 'It works'" in error
    repo.ok("say", "it", "works", "--new")
    assert repo.json("read", "it")["entries"][0]["title"] == "works"


def test_a_question_without_a_name_is_no_name(repo: Here) -> None:
    for text in ("Which one?", "Who?"):
        error = repo.fails(2, "ask", "login", text)
        assert "wc ask login --to NAME -m" in error
        assert text not in error


def test_a_text_in_quotation_marks_is_not_quoted_again(repo: Here) -> None:
    error = repo.fails(2, "amend", "api", "0", "Which browsers do we support?")
    assert "'0 Which" not in error
    assert "See: wc help amend" in error
