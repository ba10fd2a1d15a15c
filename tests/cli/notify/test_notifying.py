"""A person is notified of what comes to them: once, and without holding a write up."""

from __future__ import annotations

import json
import os
import socket
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest

from tests.cli.notify.receiver import SLACK, Receiver
from wc_cli.bridges.notify import notifying
from wc_cli.bridges.notify.notifying import PersonNote
from wc_core.attention.notify.records import TargetState

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.conftest import Repo

CODEX = ("--as", "Codex")
IN_BACKGROUND = {"WATERCOOLER_SYNC": "background"}


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with Receiver() as server:
        yield server


@pytest.fixture
def app(repo: Repo) -> Repo:
    """A thread of Codex, who has its ball."""
    repo.ok("new", "auth", "--title", "Secret plans", *CODEX)
    return repo


def choose(repo: Repo, *targets: str, content: bool = False) -> None:
    """Set the targets of the person."""
    repo.ok("config", "--global", "set", "--", "notify.targets", *targets)
    if content:
        repo.ok("config", "--global", "set", "notify.content", "true")


def write(repo: Repo, *words: str) -> None:
    """Write an entry, and let the helper settle."""
    repo.ok(*words, env=IN_BACKGROUND)


def records(repo: Repo) -> dict[str, Any]:
    """The records of what Pat was notified of."""
    folder = repo.private / "notified/pat"
    return {
        path.name: json.loads(path.read_text())
        for path in folder.iterdir()
        if path.is_file() and path.name != "=looked"
    }


def wait_until_sent(repo: Repo, name: str) -> None:
    """Return once the record of a call has nothing pending."""
    end = time.monotonic() + 20
    while time.monotonic() < end:
        found = {key: value for key, value in records(repo).items() if name in key}
        if found and not any(value["pending"] for value in found.values()):
            return
        time.sleep(0.02)
    raise AssertionError(records(repo))


def test_each_kind_of_webhook_is_called_once_for_a_ball(
    app: Repo, receiver: Receiver
) -> None:
    url = receiver.url
    choose(app, f"ntfy:{url}/pat-3f9", f"slack:{url}{SLACK}", f"json:{url}/hook?k=1")
    write(app, "handoff", "auth", "--to", "Pat", *CODEX)
    by_path = {item.path: item.fields for item in receiver.wait(3)}
    assert by_path["/"] == {
        "topic": "pat-3f9",
        "title": "Your move: auth",
        "message": "app",
        "priority": 3,
        "tags": ["bell"],
    }
    assert by_path[SLACK] == {"text": ":bell: *Your move: auth*\napp"}
    fields = by_path["/hook?k=1"]
    assert fields.pop("at").endswith("Z")
    assert fields == {
        "event": "ball",
        "priority": "default",
        "repository": "app",
        "topic": "auth",
        "count": 1,
        "title": "Your move: auth",
    }
    wait_until_sent(app, "auth")
    # Nothing more is sent, whatever else is written.
    write(app, "ack", "auth", "--title", "One more remark", *CODEX)
    write(app, "new", "other", "--title", "Of Codex", *CODEX)
    app.settled("ack", "auth", "--title", "And another", *CODEX)
    time.sleep(0.5)
    assert len(receiver.requests) == 3
    # The ball comes back: that is another one.
    write(app, "say", "auth", "--title", "Do it", "--to", "Codex")
    write(app, "say", "auth", "--title", "Done", "--to", "Pat", *CODEX)
    receiver.wait(6)


def test_with_content_the_title_is_sent(app: Repo, receiver: Receiver) -> None:
    url = receiver.url
    choose(app, f"slack:{url}{SLACK}", f"json:{url}/hook", content=True)
    app.ok("new", "keys", "--title", "<!channel> & co", *CODEX)
    write(app, "handoff", "keys", "--to", "Pat", *CODEX)
    by_path = {item.path: item.fields for item in receiver.wait(2)}
    assert by_path["/hook"]["text"] == "<!channel> & co"
    assert "&lt;!channel&gt; &amp; co · app" in by_path[SLACK]["text"]


def test_a_question_and_a_blocked_ball_have_high_priority(
    app: Repo, receiver: Receiver
) -> None:
    choose(app, f"ntfy:{receiver.url}/pat")
    write(app, "ask", "auth", "--to", "Pat", "--title", "Which key?", *CODEX)
    first = receiver.wait(1)[0].fields
    assert (first["title"], first["priority"]) == ("A question to you: auth", 4)
    assert "Which key?" not in json.dumps(first)
    app.ok("answer", "auth", "--title", "This one")
    write(app, "set-status", "auth", "BLOCKED", "--reason", "no key", *CODEX)
    write(app, "handoff", "auth", "--to", "Pat", *CODEX)
    second = receiver.wait(2)[1].fields
    assert (second["title"], second["priority"]) == ("Blocked, your move: auth", 4)


def test_what_they_did_or_read_themselves_is_not_news(
    app: Repo, receiver: Receiver
) -> None:
    choose(app, f"json:{receiver.url}/hook")
    write(app, "new", "mine", "--title", "Of Pat's own")
    app.ok("handoff", "auth", "--to", "Pat", *CODEX)
    app.ok("read", "auth")
    app.settled("new", "third", "--title", "T", *CODEX)
    write(app, "handoff", "third", "--to", "Pat", *CODEX)
    assert [item.fields["topic"] for item in receiver.wait(1)] == ["third"]
    wait_until_sent(app, "third")
    assert len(receiver.requests) == 1
    assert len([name for name in records(app) if not name.startswith("=")]) == 3


def test_what_was_there_before_is_recorded_and_not_reported(
    app: Repo, receiver: Receiver
) -> None:
    app.ok("handoff", "auth", "--to", "Pat", *CODEX)
    time.sleep(0.02)
    choose(app, f"json:{receiver.url}/hook")
    app.ok("new", "third", "--title", "T", *CODEX)
    write(app, "handoff", "third", "--to", "Pat", *CODEX)
    assert [item.fields["topic"] for item in receiver.wait(1)] == ["third"]
    # The record goes with the ball.
    app.settled("say", "auth", "--title", "Back", "--to", "Codex")
    assert not [name for name in records(app) if name.endswith(".auth")]


def test_a_test_before_the_first_look_does_not_make_old_balls_news(
    app: Repo, receiver: Receiver
) -> None:
    app.ok("handoff", "auth", "--to", "Pat", *CODEX)
    time.sleep(0.02)
    choose(app, f"json:{receiver.url}/hook")
    app.ok("notify", "test")
    app.ok("new", "third", "--title", "T", *CODEX)
    write(app, "handoff", "third", "--to", "Pat", *CODEX)
    wait_until_sent(app, "third")
    topics = [item.fields["topic"] for item in receiver.requests]
    assert topics == ["", "third"]


def test_many_at_once_are_one_notification(app: Repo, receiver: Receiver) -> None:
    choose(app, f"json:{receiver.url}/hook")
    for count in range(6):
        app.ok("new", f"t{count}", "--title", "T", *CODEX)
        app.ok("handoff", f"t{count}", "--to", "Pat", *CODEX)
    write(app, "ack", "auth", "--title", "Note", *CODEX)
    fields = receiver.wait(1)[0].fields
    assert (fields["event"], fields["count"], fields["topic"]) == ("several", 6, "")
    wait_until_sent(app, "t5")
    assert len(receiver.requests) == 1


def test_a_target_that_fails_is_tried_again_and_a_problem_in_the_meantime(
    app: Repo, receiver: Receiver
) -> None:
    choose(app, f"slack:{receiver.url}{SLACK}")
    receiver.answers = [503, 429]
    started = time.monotonic()
    write(app, "handoff", "auth", "--to", "Pat", *CODEX)
    assert time.monotonic() - started < 5
    receiver.wait(1)
    time.sleep(0.3)
    done = app.wc("problems", "--json")
    assert done.code == 9
    row = done.json["problems"][0]
    assert row["message"] == (
        f"slack:{receiver.host} failed 1 time, last with: HTTP 503 Service Unavailable"
    )
    assert row["fix"] == f"Check it: wc notify test slack:{receiver.host}"
    assert "secret" not in done.out
    receiver.wait(3)
    wait_until_sent(app, "auth")
    assert "slack" not in app.wc("problems").out
    shown = app.ok("notify").out
    assert "Your move: auth" in shown
    assert "failed" not in shown


def test_an_unreachable_target_holds_nothing_up(app: Repo, receiver: Receiver) -> None:
    choose(app, "json:http://127.0.0.1:9/secret-path", f"json:{receiver.url}/hook")
    write(app, "handoff", "auth", "--to", "Pat", *CODEX)
    receiver.wait(1)
    done = app.wc("notify", "test", "json")
    assert done.code == 9
    assert "json:127.0.0.1:9 · failed: Connection refused" in done.out
    assert f"json:{receiver.host} · sent: HTTP 204 No Content" in done.out
    assert "1 target failed" in done.err
    assert "secret-path" not in done.out + done.err


def test_quiet_hours_put_it_off(app: Repo, receiver: Receiver) -> None:
    choose(app, f"json:{receiver.url}/hook")
    app.ok("config", "--global", "set", "quiet.hours", "00:00-23:59")
    if time.strftime("%H:%M") == "23:59":
        time.sleep(61)
    app.settled("handoff", "auth", "--to", "Pat", *CODEX)
    time.sleep(0.5)
    assert receiver.requests == []
    app.ok("config", "--global", "unset", "quiet.hours")
    app.settled("ack", "auth", "--title", "Note", *CODEX)
    assert receiver.wait(1)[0].fields["topic"] == "auth"


def test_a_ball_between_two_agents_of_theirs_needs_a_person(
    app: Repo, receiver: Receiver
) -> None:
    choose(app, f"json:{receiver.url}/hook", content=True)
    app.ok("config", "set", "ball.bounces", "3")
    names = ("Claude Code (Pat)", "Codex (Pat)")
    for count in range(5):
        to, author = names[count % 2], names[(count + 1) % 2]
        words = ("--title", "No, you", "--to", to, "--as", author, "--force")
        app.settled("say", "auth", *words)
    fields = receiver.wait(1)[0].fields
    assert (fields["event"], fields["priority"]) == ("bounces", "high")
    assert fields["title"] == "Needs a person: auth"
    assert "went 3 times between" in fields["text"]
    time.sleep(0.5)
    assert len(receiver.requests) == 1


def test_rounds_of_a_review_between_two_agents_need_a_person(
    app: Repo, receiver: Receiver
) -> None:
    choose(app, f"json:{receiver.url}/hook", content=True)
    app.ok("config", "set", "ball.bounces", "2")
    review = ("say", "auth", "--request-changes", "--as", "Claude Code (Pat)")
    app.ok("handoff", "auth", "--to", "Claude Code", "--force", *CODEX)
    for count in range(2):
        app.settled(*review, "--title", f"Not yet {count}", "--force")
        app.ok("set-status", "auth", "IN_REVIEW", *CODEX)
        app.settled("handoff", "auth", "--to", "Claude Code", *CODEX)
    fields = receiver.wait(1)[0].fields
    assert fields["event"] == "bounces"
    assert "changes were requested 2 times between" in fields["text"]


def test_many_helpers_at_once_tell_once(app: Repo, receiver: Receiver) -> None:
    choose(app, f"json:{receiver.url}/hook")
    env = app.machine.env
    app.ok("handoff", "auth", "--to", "Pat", *CODEX)
    root = str(app.store)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: notifying.start_if_due(root, env), range(40)))
    wait_until_sent(app, "auth")
    assert len(receiver.requests) == 1


def test_a_server_that_does_not_answer_holds_no_write_up(app: Repo) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        choose(app, f"json:http://127.0.0.1:{port}/hook")
        started = time.monotonic()
        app.settled("handoff", "auth", "--to", "Pat", *CODEX)
        app.settled("ack", "auth", "--title", "Note", *CODEX)
        assert time.monotonic() - started < 4.5
        app.settled("say", "auth", "--title", "Back", "--to", "Codex")


def test_others_can_tell_a_person_once(app: Repo, receiver: Receiver) -> None:
    choose(app, f"json:{receiver.url}/hook", content=True)
    env = {**app.machine.env, "WATERCOOLER_PREFERENCES": ""}
    note = PersonNote("Pat", "gate-1", "auth", "The gate failed", urgent=True)
    root = str(app.store)
    assert notifying.notify_person(root, env, note)
    assert not notifying.notify_person(root, env, note)
    assert not notifying.notify_person(root, env, note._replace(person="Alex", key="2"))
    fields = receiver.wait(1)[0].fields
    assert (fields["event"], fields["priority"]) == ("note", "high")
    assert fields["text"] == "The gate failed"


def test_without_targets_nothing_is_recorded(app: Repo) -> None:
    app.settled("handoff", "auth", "--to", "Pat", *CODEX)
    assert not (app.private / "notified").exists()
    note = PersonNote("Pat", "x", "auth", "")
    assert not notifying.notify_person(str(app.store), app.machine.env, note)


def test_the_pause_doubles_and_has_a_limit() -> None:
    state = TargetState()
    pauses = []
    for _ in range(12):
        state = state.after_failure(0, "no", 0)
        pauses.append(state.next_ms // 1000)
    assert pauses[:4] == [2, 4, 8, 16]
    assert pauses[-1] == 900
    asked = {ms: TargetState().after_failure(0, "", ms).next_ms for ms in (3, 10**6)}
    assert asked == {3: 2_000, 10**6: 10**6}


def test_a_clock_that_was_set_back_silences_no_target() -> None:
    state = TargetState().after_failure(10**12, "no", 0)
    assert state.pause_ms(10**12) == 2_000
    assert state.pause_ms(10**12 + 2_000) == 0
    assert state.pause_ms(10**11) == 0


def test_records_that_cannot_be_used_stop_nothing(
    app: Repo, receiver: Receiver
) -> None:
    choose(app, f"json:{receiver.url}/hook")
    folder: Path = app.private / "notified/pat"
    folder.mkdir(parents=True)
    (folder / "=targets.json").write_text("[")
    (folder / f"{'0' * 26}.auth").write_text("{}")
    (folder / "note.x").write_text('{"at_ms": "x", "pending": ["bell"]}')
    (folder / "asked.x").mkdir()
    write(app, "handoff", "auth", "--to", "Pat", *CODEX)
    receiver.wait(1)
    assert os.path.isdir(folder / "asked.x")
    # A state with a field of another type, too.
    wait_until_sent(app, "auth")
    states = json.loads((folder / "=targets.json").read_text())
    for state in states.values():
        state["next_ms"] = "x"
    (folder / "=targets.json").write_text(json.dumps(states))
    app.ok("new", "more", "--title", "T", *CODEX)
    write(app, "handoff", "more", "--to", "Pat", *CODEX)
    receiver.wait(2)
