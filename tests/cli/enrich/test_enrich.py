"""Having a model summarise entries: what is sent, kept, shared, and used."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from typing import TYPE_CHECKING, Any

import pytest

from tests.cli.enrich.modelserver import ModelServer, Planned, completion
from wc_cli.ledger.store import locks
from wc_core.base.layout import Layout
from wc_core.ledger.summaries import kept

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.conftest import Repo

LONG = "We back off exponentially and give up after five attempts. " * 8


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer() as running:
        yield running


def configure(repo: Repo, server: ModelServer) -> None:
    repo.ok("config", "--global", "set", "summaries.endpoint", server.url, "small")


def write(repo: Repo, *topics: str) -> None:
    for topic in topics:
        repo.ok("new", topic, "--title", f"About {topic}", "--body", LONG)


def lines(repo: Repo, topic: str) -> list[dict[str, Any]]:
    path = repo.store / f"graph/baseline/threads/{topic}/summaries.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()]


def committed(repo: Repo, topic: str) -> str:
    path = f"graph/baseline/threads/{topic}/summaries.jsonl"
    return repo.git("show", f"watercooler/threads:{path}")


def test_without_a_server_nothing_is_sent_and_it_says_so(repo: Repo) -> None:
    write(repo, "retries")
    done = repo.ok("enrich")
    assert "no model server is set (summaries.endpoint)" in done.out
    assert "by its first sentences" in done.out
    assert repo.json("enrich")["parts"][0]["off"]
    repo.ok("config", "--global", "set", "summaries.endpoint", "http://localhost:1")
    assert "names a server, but no model" in repo.ok("enrich").out


def test_an_entry_is_summarised_once_and_committed(
    repo: Repo, server: ModelServer
) -> None:
    configure(repo, server)
    write(repo, "retries")
    repo.ok("say", "retries", "--title", "Short", "--body", "Too short to pay for.")
    repo.ok("say", "retries", "--title", "Own", "--body", LONG, "--summary", "Mine.")
    before = repo.log("retries").read_bytes()
    env = {"WATERCOOLER_MODEL_KEY": "s3cret"}
    report = repo.json("enrich", "--summaries", env=env)["parts"]
    assert report == [
        {
            "part": "summaries",
            "done": 2,
            "remaining": 0,
            "model": "small",
            "place": f"{server.host} (this machine)",
        }
    ]
    asked, of_thread = server.asked
    assert "Own\nMine." in of_thread.fields["messages"][1]["content"]
    assert asked.headers["Authorization"] == "Bearer s3cret"
    assert asked.fields["messages"][1]["content"].startswith("About retries\n\nWe back")
    (line,) = lines(repo, "retries")
    assert line["summary"].startswith("In short: About retries We back off")
    assert line["model"] == "small"
    assert line["id"] == repo.entries("retries")[0]["entry_id"]
    # Never in the log, and sent once.
    assert repo.log("retries").read_bytes() == before
    assert repo.json("enrich")["parts"][0]["done"] == 0
    repo.settled("ack", "retries")
    assert json.loads(committed(repo, "retries")) == line


def test_a_dry_run_sends_nothing(repo: Repo, server: ModelServer) -> None:
    configure(repo, server)
    write(repo, "retries", "login")
    done = repo.ok("enrich", "--dry-run")
    assert "2 texts" in done.out
    assert f"would be sent to small at {server.host} (this machine)" in done.out
    assert server.asked == []
    assert repo.json("enrich", "login", "--limit", "1")["parts"][0]["done"] == 1
    assert "About login" in str(server.asked[0].fields)
    assert repo.json("enrich", "--dry-run")["parts"][0]["remaining"] == 1
    repo.fails(3, "enrich", "nothing")


def test_a_dry_run_writes_nothing_and_waits_for_nobody(
    repo: Repo, server: ModelServer
) -> None:
    configure(repo, server)
    write(repo, "retries")
    layout = Layout(str(repo.store))
    with locks.locked(layout.enrich_lock, "wc enrich", 0.0, layout.root):
        assert "are being made already" in repo.wc("enrich").err
        assert "1 text" in repo.ok("enrich", "--dry-run").out
    os.remove(layout.enrich_lock)
    repo.ok("enrich", "--dry-run")
    assert not os.path.exists(layout.enrich_lock)


def test_a_text_that_changed_is_summarised_again(
    repo: Repo, server: ModelServer
) -> None:
    configure(repo, server)
    write(repo, "retries")
    repo.ok("enrich")
    repo.ok("amend", "retries", "--title", "Other", "--body", LONG.replace("We", "I"))
    assert repo.json("enrich")["parts"][0]["done"] == 1
    summaries = [line["summary"] for line in lines(repo, "retries")]
    assert summaries[1].startswith("In short: Other I back off")
    repo.ok("retract", "retries")
    assert repo.json("enrich")["parts"][0]["done"] == 0


def test_the_doctor_says_where_entries_go(repo: Repo, server: ModelServer) -> None:
    write(repo, "retries")
    assert "enrich" not in repo.ok("doctor").out
    setting = ("config", "--global", "set", "summaries.endpoint")
    repo.ok(*setting, "http://ai.example.org")
    said = repo.ok("doctor").out
    assert "nothing is sent to be summarised: summaries.endpoint names a serv" in said
    repo.ok(*setting, "http://ai.example.org", "small")
    said = repo.ok("doctor").out
    assert (
        "what is written is sent to ai.example.org (not encrypted), without a key, to "
        "be summarised by small"
    ) in said
    configure(repo, server)
    said = repo.ok("doctor", env={"WATERCOOLER_MODEL_KEY": "s3cret"}).out
    assert f"{server.host} (this machine), with the key in WATERCOOLER_" in said
    assert "s3cret" not in said
    assert server.asked == []


@pytest.mark.parametrize(
    ("answer", "summary"),
    [
        ("<think>Hm.\n\nWell.</think>\n\nWe **back off**.", "We back off."),
        ("Two\nlines \x1b[31mred", "Two lines red"),
        ("x" * 1000, f"{'x' * (kept.MOST - 1)}…"),
    ],
)
def test_what_is_kept_of_an_answer(
    repo: Repo, server: ModelServer, answer: str, summary: str
) -> None:
    configure(repo, server)
    write(repo, "retries")
    server.planned = [Planned(body=completion(answer))]
    repo.ok("enrich")
    assert lines(repo, "retries")[0]["summary"] == summary


@pytest.mark.parametrize("thoughts", ["<think>\nHm, a long", "", None])
def test_a_model_whose_thoughts_take_all_the_room_gets_more_of_it(
    repo: Repo, server: ModelServer, thoughts: str | None
) -> None:
    configure(repo, server)
    write(repo, "retries")
    unfinished = Planned(body=completion(thoughts, "length"))
    server.planned = [unfinished, unfinished]
    assert "thoughts without an answer" in repo.ok("enrich").err
    assert not (repo.store / "graph/baseline/threads/retries/summaries.jsonl").exists()
    server.planned = [unfinished, Planned(body=completion("<think>x</think>Good."))]
    repo.ok("enrich")
    assert lines(repo, "retries")[0]["summary"] == "Good."
    first, second = (request.fields["max_tokens"] for request in server.asked[2:])
    assert first < second


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (Planned(400, b'{"error": "too long"}'), "HTTP 400 too long"),
        (Planned(body=b'{"choices": []}'), "an answer without a message"),
        (Planned(body=completion(" \n")), "an empty message"),
    ],
)
def test_one_bad_answer_stops_no_other_entry(
    repo: Repo, server: ModelServer, bad: Planned, message: str
) -> None:
    configure(repo, server)
    write(repo, "first", "second")
    server.planned = [bad]
    done = repo.ok("enrich")
    assert message in done.err
    assert "1 made by small" in done.out
    assert "1 left" in done.out
    server.planned = [bad] * 3
    write(repo, "third", "fourth")
    failed = repo.wc("enrich")
    assert failed.code == 8
    assert message in failed.err
    assert "0 made by small" in failed.out
    assert len(server.asked) == 5


def test_a_server_that_refuses_ends_it(repo: Repo, server: ModelServer) -> None:
    configure(repo, server)
    write(repo, "first", "second")
    server.planned = [
        Planned(429, headers=(("Retry-After", "0"),)),
        Planned(body=completion("Good.")),
        Planned(401),
    ]
    done = repo.wc("enrich", "--json")
    assert done.code == 8
    assert "WATERCOOLER_MODEL_KEY" in done.err
    part = json.loads(done.out.splitlines()[0])["parts"][0]
    assert (part["done"], part["remaining"]) == (1, 1)
    assert "HTTP 401" in part["error"]
    assert repo.json("enrich")["parts"][0]["done"] == 1


def test_killed_and_continued(repo: Repo, server: ModelServer) -> None:
    configure(repo, server)
    topics = [f"t{number}" for number in range(4)]
    write(repo, *topics)
    server.pause = 0.3
    machine = repo.machine
    env = {**machine.env, "WATERCOOLER_SYNC": "off"}
    process = subprocess.Popen([*machine.wc_words, "enrich"], cwd=repo.path, env=env)
    while len(server.asked) < 2:
        time.sleep(0.01)
    assert "are being made" in repo.fails(5, "enrich")
    while len(server.asked) < 3:
        time.sleep(0.01)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    made = [
        topic
        for topic in topics
        if (repo.store / f"graph/baseline/threads/{topic}/summaries.jsonl").exists()
    ]
    assert len(made) >= 2
    server.pause = 0.0
    assert repo.json("enrich")["parts"][0]["done"] == 4 - len(made)
    for topic in topics:
        repo.settled("ack", topic)
        assert len(lines(repo, topic)) == 1
        assert committed(repo, topic)


def test_a_line_that_was_never_finished_hides_no_other(
    repo: Repo, server: ModelServer
) -> None:
    configure(repo, server)
    write(repo, "retries")
    repo.ok("enrich")
    path = repo.store / "graph/baseline/threads/retries/summaries.jsonl"
    whole = path.read_bytes()
    for cut in (1, 40, len(whole) - 1):
        path.write_bytes(whole[:cut])
        repo.settled("ack", "retries")
        # Half a line is not committed, and not used.
        assert repo.json("enrich", "--summaries")["parts"][0]["done"] == 1
        entries = repo.json("read", "retries", "--summary-only")["entries"]
        assert entries[0]["summary_by"] == "model"
    repo.settled("ack", "retries")
    assert kept.parse(committed(repo, "retries").encode()).by_key
    path.unlink()
    path.symlink_to(repo.log("retries"))
    assert repo.settled("ack", "retries", "--json").json["committed"]
    done = repo.wc("enrich", "--summaries")
    assert done.code == 7
    assert "summaries.jsonl" in done.err


def test_a_team_pays_once(repo: Repo, server: ModelServer) -> None:
    machine = repo.machine
    machine.git("init", "-q", "--bare", "hub.git", cwd=repo.path.parent)
    repo.git("remote", "add", "origin", "../hub.git")
    write(repo, "retries", "login")
    repo.ok("sync")
    machine.git("clone", "-q", "hub.git", "clone", cwd=repo.path.parent)
    clone = type(repo)(machine, repo.path.parent / "clone")
    clone.ok("sync")
    configure(repo, server)
    # Both summarise, one of them the same entry.
    repo.ok("enrich", "retries")
    clone.ok("enrich")
    clone.ok("sync")
    repo.ok("sync")
    clone.ok("sync")
    for topic in ("retries", "login"):
        assert len(lines(repo, topic)) == 1
        assert lines(repo, topic) == lines(clone, topic)
    asked = len(server.asked)
    assert repo.json("enrich")["parts"][0]["done"] == 0
    assert clone.json("enrich")["parts"][0]["done"] == 0
    assert len(server.asked) == asked == 3
