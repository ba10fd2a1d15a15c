"""A person is notified of what comes to them: once, and without holding a write up."""

from __future__ import annotations

import os
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from tests.cli.notify.receiver import Receiver
from wc_cli.bridges.notify import local, notifying

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Repo

CODEX = ("--as", "Codex")
IN_BACKGROUND = {"WATERCOOLER_SYNC": "background"}


@pytest.fixture
def receiver(tmp_path: Path) -> Receiver:
    return Receiver(tmp_path)


@pytest.fixture
def app(repo: Repo) -> Repo:
    """A thread of Codex, who has its ball."""
    repo.ok("new", "auth", "--title", "Plans <b>", *CODEX)
    return repo


def choose(repo: Repo, receiver: Receiver) -> None:
    repo.ok("config", "--global", "set", "notify.command", receiver.command)


def write(repo: Repo, *words: str) -> None:
    """Write an entry, and let the helper settle."""
    repo.ok(*words, env=IN_BACKGROUND)


def records(repo: Repo) -> list[str]:
    """The calls that Pat was notified of."""
    names = os.listdir(repo.private / "notified/pat")
    return sorted(name for name in names if not name.startswith("="))


def test_a_command_is_told_once_of_a_ball(app: Repo, receiver: Receiver) -> None:
    choose(app, receiver)
    write(app, "handoff", "auth", "--to", "Pat", *CODEX)
    fields = receiver.wait(1)[0].fields
    assert fields.pop("at").endswith("Z")
    assert fields == {
        "event": "ball",
        "priority": "default",
        "repository": "app",
        "topic": "auth",
        "count": 1,
        "title": "Your move: auth",
        "text": "Plans <b>",
    }
    # Nothing more is sent, whatever else is written.
    write(app, "ack", "auth", "--title", "One more remark", *CODEX)
    write(app, "new", "other", "--title", "Of Codex", *CODEX)
    app.settled("ack", "auth", "--title", "And another", *CODEX)
    time.sleep(0.5)
    assert len(receiver.told) == 1
    # The ball comes back: that is another one.
    write(app, "say", "auth", "--title", "Do it", "--to", "Codex")
    write(app, "say", "auth", "--title", "Done", "--to", "Pat", *CODEX)
    receiver.wait(2)


def test_the_event_is_in_variables_and_no_shell_reads_it(
    app: Repo, tmp_path: Path
) -> None:
    told = tmp_path / "told"
    line = '"$WC_EVENT|$WC_TOPIC|$WC_TITLE|$WC_TEXT|$WC_REPOSITORY|$WC_PRIORITY"'
    command = f"printf %s {line} >{told}.new && mv {told}.new {told}"
    app.ok("config", "--global", "set", "notify.command", command)
    app.ok("new", "evil", "--title", f"$(touch {tmp_path}/x); `id`", *CODEX)
    write(app, "handoff", "evil", "--to", "Pat", *CODEX)
    text = f"ball|evil|Your move: evil|$(touch {tmp_path}/x); `id`|app|default"
    assert wait_for(told) == text
    assert not (tmp_path / "x").exists()


def wait_for(path: Path) -> str:
    """The text of a file, as soon as it has any."""
    end = time.monotonic() + 20
    while time.monotonic() < end:
        if path.exists() and (text := path.read_text()):
            return text
        time.sleep(0.02)
    raise AssertionError(f"{path} was not written")


def test_the_desktop_is_notified_and_a_failure_is_a_problem(
    app: Repo, tmp_path: Path
) -> None:
    program = tmp_path / "bin/notify-send"
    program.parent.mkdir()
    program.write_text('#!/bin/sh\nprintf "%s\\n" "$@" >"${0%/*}/told"\n')
    program.chmod(0o755)
    app.machine.env["PATH"] = f"{program.parent}:{app.machine.env['PATH']}"
    app.ok("config", "--global", "set", "notify.command", "desktop")
    write(app, "handoff", "auth", "--to", "Pat", *CODEX)
    assert wait_for(tmp_path / "bin/told").splitlines() == [
        "--app-name=Watercooler",
        "--",
        "Your move: auth",
        "Plans &lt;b&gt; · app",
    ]
    program.write_text("#!/bin/sh\necho 'no bus' >&2\nexit 3\n")
    write(app, "ask", "auth", "--to", "Pat", "--title", "Q", *CODEX)
    wait_for(app.private / "notified/pat/=problem")
    problem = "the last notification failed: notify-send exited with 3: no bus"
    assert problem in app.wc("doctor").out


OLD = (
    '["desktop", "bell", "tmux", "ntfy:https://ntfy.sh/secret", "json:http://a/secret"]'
)


def test_targets_that_went_are_named_to_their_person_with_what_does_the_same(
    app: Repo, receiver: Receiver
) -> None:
    """They notify nobody, and take nothing else with them."""
    folder = app.machine.home / ".config/watercooler"
    folder.mkdir(parents=True)
    text = f"[quiet]\nhours = '22:00-8:00'\n[notify]\ncontent = true\ntargets = {OLD}\n"
    (folder / "config.toml").write_text(f"{text}command = '{receiver.command}'\n")
    started = "notify.targets: ntfy … notifies nobody now. Instead: "
    for words in (("inbox",), ("ack", "auth", "--title", "Seen")):
        said = app.ok(*words).err
        assert said.count("notifies nobody now") == 5
        assert started + "wc config --global set notify.command 'curl" in said
        assert "bell notifies nobody now. Instead: wc wait --bell." in said
        assert "Instead: wc config --global set notify.command desktop." in said
        assert "secret" not in said
    assert "notifies nobody" not in app.ok("ack", "auth", "--title", "T", *CODEX).err
    found = app.wc("doctor").out
    assert "quiet" in found
    assert "notify.content" in found
    write(app, "handoff", "auth", "--to", "Pat", *CODEX)
    receiver.wait(1)
    app.ok("config", "--global", "unset", "notify.targets")
    assert "notifies nobody" not in app.ok("inbox").err
    listed = app.ok("config", "--global", "list").out
    assert str(receiver.path) not in listed


def test_a_question_and_a_blocked_ball_have_high_priority(
    app: Repo, receiver: Receiver
) -> None:
    choose(app, receiver)
    write(app, "ask", "auth", "--to", "Pat", "--title", "Which key?", *CODEX)
    first = receiver.wait(1)[0].fields
    assert (first["title"], first["priority"]) == ("A question to you: auth", "high")
    assert first["text"] == "Which key?"
    app.ok("answer", "auth", "--title", "This one")
    write(app, "set-status", "auth", "BLOCKED", "--reason", "no key", *CODEX)
    write(app, "handoff", "auth", "--to", "Pat", *CODEX)
    second = receiver.wait(2)[1].fields
    assert (second["title"], second["priority"]) == ("Blocked, your move: auth", "high")


def test_what_they_did_or_read_themselves_is_not_news(
    app: Repo, receiver: Receiver
) -> None:
    choose(app, receiver)
    write(app, "new", "mine", "--title", "Of Pat's own")
    app.ok("handoff", "auth", "--to", "Pat", *CODEX)
    app.ok("read", "auth")
    app.settled("new", "third", "--title", "T", *CODEX)
    write(app, "handoff", "third", "--to", "Pat", *CODEX)
    assert [item.fields["topic"] for item in receiver.wait(1)] == ["third"]
    time.sleep(0.5)
    assert len(receiver.told) == 1
    assert len(records(app)) == 3


def test_what_was_there_before_is_recorded_and_not_reported(
    app: Repo, receiver: Receiver
) -> None:
    app.ok("handoff", "auth", "--to", "Pat", *CODEX)
    time.sleep(0.02)
    choose(app, receiver)
    app.ok("new", "third", "--title", "T", *CODEX)
    write(app, "handoff", "third", "--to", "Pat", *CODEX)
    assert [item.fields["topic"] for item in receiver.wait(1)] == ["third"]
    # The record goes with the ball.
    app.settled("say", "auth", "--title", "Back", "--to", "Codex")
    assert not [name for name in records(app) if name.endswith(".auth")]


def test_many_at_once_are_one_notification(app: Repo, receiver: Receiver) -> None:
    choose(app, receiver)
    for count in range(6):
        app.ok("new", f"t{count}", "--title", "T", *CODEX)
        app.ok("handoff", f"t{count}", "--to", "Pat", *CODEX)
    write(app, "ack", "auth", "--title", "Note", *CODEX)
    fields = receiver.wait(1)[0].fields
    assert (fields["event"], fields["count"], fields["topic"]) == ("several", 6, "")
    time.sleep(0.5)
    assert len(receiver.told) == 1


def test_a_ball_between_two_agents_of_theirs_needs_a_person(
    app: Repo, receiver: Receiver
) -> None:
    choose(app, receiver)
    (app.store / "config.toml").write_text("[ball]\nbounces = 3\n")
    names = ("Claude Code (Pat)", "Codex (Pat)")
    for count in range(5):
        to, author = names[count % 2], names[(count + 1) % 2]
        words = ("--title", "No, you", "--to", to, "--as", author, "--force")
        app.settled("say", "auth", *words)
    fields = receiver.wait(1)[0].fields
    assert (fields["event"], fields["priority"]) == ("bounces", "high")
    assert fields["title"] == "Needs a person: auth"
    assert "times between" in fields["text"]
    time.sleep(0.5)
    assert len(receiver.told) == 1


def test_rounds_of_a_review_between_two_agents_need_a_person(
    app: Repo, receiver: Receiver
) -> None:
    choose(app, receiver)
    (app.store / "config.toml").write_text("[ball]\nbounces = 2\n")
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
    choose(app, receiver)
    env = app.machine.env
    app.ok("handoff", "auth", "--to", "Pat", *CODEX)
    root = str(app.store)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: notifying.start_if_due(root, env), range(40)))
    time.sleep(0.5)
    assert len(receiver.told) == 1


def test_a_command_that_does_not_end_holds_no_write_up(app: Repo) -> None:
    app.ok("config", "--global", "set", "notify.command", "sleep 60")
    started = time.monotonic()
    app.settled("handoff", "auth", "--to", "Pat", *CODEX)
    app.settled("ack", "auth", "--title", "Note", *CODEX)
    assert time.monotonic() - started < 4.5
    app.settled("say", "auth", "--title", "Back", "--to", "Codex")


def test_if_nothing_is_wanted_nothing_is_recorded(app: Repo) -> None:
    app.settled("handoff", "auth", "--to", "Pat", *CODEX)
    assert not (app.private / "notified").exists()


def test_records_of_an_older_version_stop_nothing(
    app: Repo, receiver: Receiver
) -> None:
    choose(app, receiver)
    folder: Path = app.private / "notified/pat"
    folder.mkdir(parents=True)
    (folder / "=targets.json").write_text("[")
    (folder / "note.x").write_text('{"at_ms": "x", "pending": ["bell"]}')
    (folder / "asked.x").mkdir()
    write(app, "handoff", "auth", "--to", "Pat", *CODEX)
    receiver.wait(1)
    assert os.path.isdir(folder / "asked.x")


def test_a_text_is_never_an_option(repo: Repo, tmp_path: Path) -> None:
    for name, expected in (
        ("notify-send", ["--", "--title", "-e do it"]),
        ("osascript", ["title", "e do it"]),
    ):
        program = tmp_path / name / name
        program.parent.mkdir()
        program.write_text('#!/bin/sh\nprintf "%s\\n" "$@" >"${0%/*}/told"\n')
        program.chmod(0o755)
        env = repo.machine.env | {"PATH": str(program.parent)}
        assert local.show(env, "--title", "-e do it") == ""
        words = (program.parent / "told").read_text().splitlines()
        assert words[-len(expected) :] == expected
