"""What hooks count, with the input that clients send, and `wc stats --cost`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.contract.inprocess import Here

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Machine

SLOWLY = {"WATERCOOLER_BRIEF_MS": "60000"}


class Session:
    """A session of Claude Code with a transcript."""

    def __init__(self, repo: Here, folder: Path, name: str = "s1") -> None:
        self.repo, self.name = repo, name
        self.transcript = folder / f"{name}.jsonl"

    def hook(self, event: str, **fields: Any) -> str:
        sent = {
            "session_id": self.name,
            "cwd": str(self.repo.path),
            "transcript_path": str(self.transcript),
        }
        words = ("brief", "--hook", event, "--client", "claude")
        feed = json.dumps(sent | fields).encode()
        done = self.repo.wc(*words, feed=feed, env=SLOWLY, cwd="/")
        assert (done.code, done.err) == (0, ""), done
        return done.out

    def respond(self, key: str, output: int, end: str = "\n") -> None:
        """Appends a response of the model, as Claude Code does."""
        usage = {"input_tokens": 1, "output_tokens": output}
        record = {"type": "assistant", "message": {"id": key, "usage": usage}}
        with self.transcript.open("a", encoding="utf-8") as file:
            file.write(json.dumps(record) + end)

    def turn(self, key: str, output: int) -> None:
        self.hook("user-prompt")
        self.respond(key, output)
        self.hook("stop")
        self.hook("stop", stop_hook_active=True)


@pytest.fixture
def repo(machine: Machine) -> Here:
    here = Here(machine, machine.repo().path)
    here.ok("new", "auth", "--title", "T", "--to", "Claude Code", "--force")
    return here


@pytest.fixture
def session(repo: Here, tmp_path: Path) -> Session:
    session = Session(repo, tmp_path)
    session.hook("session-start")
    return session


def costs(repo: Here, *words: str) -> list[tuple[str, int, int]]:
    """The thread, the tokens of the model's output and the turns of each row."""
    fields = json.loads(repo.ok("stats", *words, "--cost", "--json").out)
    assert {row["agent"] for row in fields["cost"]} <= {"Claude Code (Pat)"}
    return [
        (row["topic"], row["tokens"]["output"], row["turns"]) for row in fields["cost"]
    ]


def test_a_turn_is_counted_for_the_thread_of_the_ball(session: Session) -> None:
    assert costs(session.repo) == []
    session.turn("m1", 20)
    session.turn("m2", 5)
    assert costs(session.repo) == [("auth", 25, 2)]
    lines = session.repo.ok("stats", "--cost").out.splitlines()
    assert lines[0].split()[:4] == ["THREAD", "AGENT", "TOKENS", "OUTPUT"]
    assert lines[1].split()[:5] == ["auth", "Claude", "Code", "(Pat)", "27"]


def test_a_start_that_changes_nothing_writes_nothing(session: Session) -> None:
    session.turn("m1", 20)
    (file,) = (session.repo.store / ".local/cost").iterdir()
    before = file.stat().st_ino, file.read_bytes()
    session.hook("session-start", source="compact")
    assert (file.stat().st_ino, file.read_bytes()) == before
    # What was spent since then is counted.
    session.respond("m2", 5)
    session.hook("session-start", source="compact")
    assert file.read_bytes() != before[1]


def test_a_turn_belongs_to_the_thread_that_was_written_in(session: Session) -> None:
    repo = session.repo
    repo.ok("new", "bills", "--title", "T", "--to", "Claude Code")
    session.hook("user-prompt")
    repo.ok("say", "auth", "--title", "Done", "--to", "Pat", "--as", "Claude Code")
    session.respond("m1", 20)
    session.hook("stop")
    assert costs(repo) == [("auth", 20, 1)]
    session.turn("m2", 3)
    assert costs(repo) == [("auth", 20, 1), ("bills", 3, 1)]
    assert costs(repo, "bills") == [("bills", 3, 1)]
    repo.ok("rename", "bills", "invoices")
    assert costs(repo, "invoices") == [("invoices", 3, 1)]


def test_work_without_a_ball_is_counted_for_no_thread(session: Session) -> None:
    session.turn("m1", 3)
    session.repo.ok("handoff", "auth", "--to", "Pat", "--as", "Claude Code")
    session.repo.ok("ack", "auth", "--title", "T")
    session.turn("m2", 20)
    assert costs(session.repo) == [(None, 20, 1), ("auth", 3, 1)]
    assert session.repo.ok("stats", "--cost").out.splitlines()[1].startswith("-  ")


def test_what_was_there_before_the_first_hook_does_not_count(
    repo: Here, tmp_path: Path
) -> None:
    session = Session(repo, tmp_path)
    session.respond("m1", 1000)
    session.turn("m2", 5)
    assert costs(repo) == [("auth", 5, 1)]


def test_a_line_counts_once_it_is_whole(session: Session) -> None:
    session.hook("user-prompt")
    session.respond("m1", 20, end="")
    session.hook("stop")
    assert costs(session.repo) == [("auth", 0, 1)]
    with session.transcript.open("a") as file:
        file.write("\n")
    session.turn("m1", 30)
    assert costs(session.repo) == [("auth", 30, 2)]


def test_another_file_in_the_place_of_a_transcript_begins_at_its_end(
    session: Session,
) -> None:
    session.turn("m1", 20)
    session.turn("m2", 20)
    session.transcript.unlink()
    session.respond("old", 1000)
    session.turn("m3", 7)
    assert costs(session.repo) == [("auth", 47, 3)]


def test_a_very_long_line_is_passed_over(session: Session) -> None:
    session.hook("user-prompt")
    session.transcript.write_text('"' + "x" * (5 << 20) + '"\n', encoding="utf-8")
    session.respond("m1", 20)
    session.hook("stop")
    assert costs(session.repo) == [("auth", 20, 1)]


@pytest.mark.parametrize("path", ["", "/nowhere/t.jsonl", "/dev/zero", "/", 7, None])
def test_without_a_transcript_turns_are_counted(session: Session, path: Any) -> None:
    session.hook("user-prompt", transcript_path=path)
    session.hook("stop", transcript_path=path)
    assert costs(session.repo) == [("auth", 0, 1)]


def test_a_subagent_is_not_a_session(session: Session) -> None:
    session.hook("user-prompt", agent_id="a1")
    session.hook("stop", agent_id="a1")
    assert costs(session.repo) == []
