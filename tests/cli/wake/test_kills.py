"""What a killed waiter was about to tell is not lost, and nobody is said to have been
called by it."""

from __future__ import annotations

import json
import os
import random
import signal
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from tests import amounts
from tests.cli.wake.test_waiting import agents, until  # noqa: F401

if TYPE_CHECKING:
    from tests.cli.wake.test_waiting import Agents

SEAT, ANY_SEAT = "Claude Code@fix (pat)", "Claude Code (pat)"
# How long after a ball its waiter is killed: it wakes the session after half a second
# or more.
KILLED_AFTER = (0.2, 1.3)


def test_a_waiter_killed_at_any_moment(agents: Agents) -> None:  # noqa: F811
    agents.hook("session-start")
    chance = random.Random(7)
    for number in range(amounts.rounds(2, 12)):
        client = agents.wait(stop_hook_active=True).sleeps()
        pid, topic = client.sleeper, f"t{number}"
        agents.pass_ball(topic, to=chance.choice((SEAT, ANY_SEAT)))
        time.sleep(chance.uniform(*KILLED_AFTER))
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
        ended = client.ended()
        before = agents.passed(topic).get("state", "saved")
        told = agents.hook("user-prompt") + agents.hook("stop")
        after = agents.passed(topic).get("state", "saved")
        if ended.code == 2:
            assert (before, after) == ("called", "woken")
            assert f"- {topic} · OPEN" in ended.err
        else:
            assert (before, after) == ("saved", "saved")
            assert f'"{topic}"' in told


def test_one_killed_before_the_call(agents: Agents) -> None:  # noqa: F811
    agents.hook("session-start")
    client = agents.wait().sleeps()
    agents.pass_ball("login", to=ANY_SEAT)
    assert client.ended().code == 2
    # As it was a moment before.
    (file,) = (agents.private / "wakes").iterdir()
    file.write_text(json.dumps(json.loads(file.read_text()) | {"is_called": False}))
    assert agents.passed("login") == {}
    agents.repo.ok("doctor")
    assert '"login": its ball came to you' in agents.hook("user-prompt")
    assert agents.passed("login") == {}
    assert agents.records()[0]["turn_ms"] == 0


def test_a_killed_waiter_is_not_shown_as_waiting(agents: Agents) -> None:  # noqa: F811
    client = agents.wait().sleeps()
    os.kill(client.sleeper, signal.SIGKILL)
    client.ended()
    # The client goes on.
    words = json.loads(client.file.read_text()) | {"pid": os.getpid(), "begin": 0}
    client.file.write_text(json.dumps(words))
    assert "its balls do not wake it" in agents.repo.ok("wake").out
    shown = json.loads(agents.repo.ok("wake", "--json").out)["sessions"][0]
    assert (shown["idle"], shown["waiting"]) == (True, False)
    assert "no session here that can be woken" in agents.pass_ball("login")


def test_a_turn_without_a_prompt_has_woken_too(agents: Agents) -> None:  # noqa: F811
    agents.hook("session-start")
    client = agents.wait().sleeps()
    agents.pass_ball("login")
    assert client.ended().code == 2
    again = agents.wait(stop_hook_active=True).sleeps()
    assert agents.passed("login")["state"] == "woken"
    again.end()


def test_only_what_it_was_called_for_is_shown(agents: Agents) -> None:  # noqa: F811
    agents.hook("session-start")
    client = agents.wait().sleeps()
    agents.pass_from_elsewhere("strange", to=ANY_SEAT, by="Codex (eve)")
    agents.pass_ball("login", to=ANY_SEAT)
    assert "- strange" not in client.ended().err
    told = agents.hook("user-prompt")
    assert '"strange": its ball came to you' in told
    assert '"login"' not in told


def test_an_answer_stays_one_when_others_write(agents: Agents) -> None:  # noqa: F811
    client = agents.wait().sleeps()
    agents.pass_ball("login")
    assert client.ended().code == 2
    me = {"env": {"CLAUDECODE": "1"}, "cwd": agents.folder}
    agents.repo.ok("ack", "login", "--title", "On it", **me)
    assert agents.passed("login")["state"] == "answered"
    words = ("--title", "One more thing", "--to", SEAT, "--as", "Codex")
    agents.repo.ok("say", "login", *words)
    assert until(lambda: agents.passed("login"))["state"] == "answered"
