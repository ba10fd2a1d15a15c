"""What models add in the background after a write."""

from __future__ import annotations

import json
import os
import time
from typing import TYPE_CHECKING, Any

import pytest

from tests.cli.enrich.modelserver import COMPLETIONS, EMBEDDINGS, ModelServer
from tests.cli.enrich.test_enrich import LONG, committed, configure, lines
from tests.cli.index.test_keeping import BACKGROUND, eventually
from wc_core.base.files import names_in
from wc_core.base.layout import Layout

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.conftest import Repo

META = "graph/baseline/threads/login/meta.json"


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer() as running:
        yield running


def write(repo: Repo, *words: str) -> str:
    """Write with the background process that real commands start."""
    return repo.ok(*words, env=BACKGROUND).out


def meta(repo: Repo) -> dict[str, Any]:
    fields: dict[str, Any] = json.loads((repo.store / META).read_text())
    return fields


def branch_meta(repo: Repo) -> str:
    """The committed meta; empty until there is one."""
    paths = repo.git("ls-tree", "-r", "--name-only", "watercooler/threads")
    return repo.git("show", f"watercooler/threads:{META}") if META in paths else ""


def sent(server: ModelServer, path: str = COMPLETIONS) -> list[str]:
    """The texts that a server was asked about."""
    requests = [request.fields for request in server.asked if request.path == path]
    if path == EMBEDDINGS:
        return [text for fields in requests for text in fields["input"]]
    return [fields["messages"][1]["content"] for fields in requests]


def test_a_write_is_followed_by_a_summary_of_its_entry_and_thread(
    repo: Repo, server: ModelServer
) -> None:
    repo.settled("new", "other", "--title", "Other", "--body", LONG)
    repo.settled("new", "login", "--title", "Log in", "--body", "Short.")
    # Another tool's key, and a summary that it wrote.
    path = repo.store / META
    fields = {**meta(repo), "summary": "Theirs.", "theirs": {"x": [1]}}
    path.write_text(json.dumps(fields))
    configure(repo, server)
    write(repo, "say", "login", "--title", "Retries", "--body", LONG)
    assert eventually(lambda: "In short: Log in" in branch_meta(repo))
    now = meta(repo)
    assert now == json.loads(branch_meta(repo))
    assert (now["title"], now["theirs"]) == ("Log in", {"x": [1]})
    (line,) = lines(repo, "login")
    assert line["summary"].startswith("In short: Retries We back off")
    assert json.loads(committed(repo, "login")) == line
    assert [text.split("\n")[0] for text in sent(server)] == ["Retries", "Log in"]
    assert not names_in(Layout(os.fspath(repo.store)).unenriched)
    # Later writes keep it; those that say nothing ask for nothing.
    write(repo, "ack", "login")
    repo.settled("handoff", "login", "--to", "Codex")
    assert json.loads(branch_meta(repo))["summary"] == now["summary"]
    assert eventually(lambda: repo.wc("enrich", "login").code == 0)
    assert repo.json("enrich", "login")["parts"][0]["done"] == 0
    assert len(sent(server)) == 2


def test_the_summary_survives_a_lost_file(repo: Repo, server: ModelServer) -> None:
    configure(repo, server)
    write(repo, "new", "login", "--title", "Log in", "--body", LONG)
    # One entry is all of the thread: it is sent once.
    assert eventually(lambda: "In short: Log in" in branch_meta(repo))
    assert meta(repo)["summary"] == lines(repo, "login")[0]["summary"]
    assert len(sent(server)) == 1
    (repo.store / META).unlink()
    repo.ok("doctor", "--repair")
    assert meta(repo)["summary"].startswith("In short: Log in")


def test_a_summary_of_another_tool_stays(repo: Repo) -> None:
    repo.settled("new", "login", "--title", "Log in", "--body", LONG)
    path = repo.store / META
    path.write_text(json.dumps({**meta(repo), "summary": "Theirs."}))
    repo.settled("say", "login", "--title", "More")
    repo.settled("say", "login", "--title", "Still more")
    assert json.loads(branch_meta(repo))["summary"] == "Theirs."


def test_vectors_come_from_a_server_too(repo: Repo, server: ModelServer) -> None:
    pytest.importorskip("numpy")
    repo.ok("config", "--global", "set", "meaning.endpoint", server.url, "small")
    env = BACKGROUND | {"WATERCOOLER_MEANING": "on"}
    repo.settled("new", "other", "--title", "Other")
    repo.ok("new", "login", "--title", "Log in", env=env)
    repo.ok("say", "login", "--title", "Retries", env=env)
    layout = Layout(os.fspath(repo.store))
    assert eventually(lambda: sorted(sent(server, EMBEDDINGS)) == ["Log in", "Retries"])
    assert eventually(lambda: os.path.exists(layout.vectors_done))
    assert not sent(server)


def test_a_server_that_is_down_delays_nothing_and_is_asked_again(
    repo: Repo, server: ModelServer
) -> None:
    configure(repo, server)
    repo.ok(
        "config", "--global", "set", "summaries.endpoint", "http://127.0.0.1:9", "m"
    )
    layout = Layout(os.fspath(repo.store))
    write(repo, "new", "login", "--title", "Log in", "--body", LONG)
    assert eventually(lambda: "Log in" in branch_meta(repo))
    waiting = f"{layout.unenriched}/login"
    assert eventually(lambda: os.path.exists(waiting) and os.path.getsize(waiting) > 0)
    said = repo.ok("doctor").out
    assert "no summaries or vectors yet for 1 thread: The model server 127" in said
    assert "To try again: wc enrich" in said
    configure(repo, server)
    write(repo, "new", "retries", "--title", "Retries", "--body", LONG)
    assert eventually(lambda: not names_in(layout.unenriched) and len(sent(server)) > 1)
    assert [text.split("\n")[0] for text in sent(server)] == ["Retries", "Log in"]
    assert "no summaries" not in repo.ok("doctor").out


def test_a_slow_server_holds_up_neither_the_push_nor_other_writes(
    repo: Repo, server: ModelServer
) -> None:
    repo.machine.git("init", "-q", "--bare", "hub.git", cwd=repo.path.parent)
    repo.git("remote", "add", "origin", "../hub.git")
    repo.ok("new", "login", "--title", "Log in")
    repo.ok("sync")
    configure(repo, server)
    server.pause = 3.0
    begun = time.monotonic()
    write(repo, "say", "login", "--title", "First", "--body", LONG)
    assert eventually(lambda: len(sent(server)) == 1)
    write(repo, "say", "login", "--title", "Second", "--body", LONG)

    def pushed() -> str:
        branch = ("--git-dir", "../hub.git", "log", "watercooler/threads")
        return repo.git(*branch, "--format=%s")

    assert eventually(lambda: "Second" in pushed())
    assert time.monotonic() - begun < 3
    # One process asks: nothing is sent twice.
    server.pause = 0.0
    assert eventually(lambda: "In short" in branch_meta(repo))
    assert eventually(lambda: len(lines(repo, "login")) == 2)
    texts = sent(server)
    assert len({*texts}) == len(texts)


def test_nothing_is_sent_that_this_person_did_not_ask_for(
    repo: Repo, server: ModelServer
) -> None:
    repo.machine.git("init", "-q", "--bare", "hub.git", cwd=repo.path.parent)
    repo.git("remote", "add", "origin", "../hub.git")
    write(repo, "new", "login", "--title", "Log in", "--body", LONG)
    table = f'endpoint = "{server.url}"\nmodel = "small"\n'
    shared = repo.store / "config.toml"
    shared.write_text(f"[summaries]\n{table}[meaning]\n{table}")
    write(repo, "say", "login", "--title", "More", "--body", LONG)
    repo.ok("sync")
    # Nor what others wrote, once a server is chosen.
    clone = type(repo)(repo.machine, repo.path.parent / "clone")
    repo.machine.git("clone", "-q", "hub.git", "clone", cwd=repo.path.parent)
    shared.unlink()
    # The process of the last write has to end before a server is chosen.
    time.sleep(2)
    configure(clone, server)
    clone.ok("sync", env=BACKGROUND)
    write(clone, "new", "own", "--title", "Own", "--body", LONG)
    assert eventually(lambda: len(sent(server)) == 1)
    time.sleep(0.3)
    assert [text.split("\n")[0] for text in sent(server)] == ["Own"]


def test_two_clones_that_summarise_a_thread_agree(
    repo: Repo, server: ModelServer
) -> None:
    repo.machine.git("init", "-q", "--bare", "hub.git", cwd=repo.path.parent)
    repo.git("remote", "add", "origin", "../hub.git")
    repo.ok("new", "login", "--title", "Log in", "--body", "Short.")
    repo.ok("sync")
    repo.machine.git("clone", "-q", "hub.git", "clone", cwd=repo.path.parent)
    clone = type(repo)(repo.machine, repo.path.parent / "clone")
    clone.ok("sync")
    configure(repo, server)
    for side, text in ((repo, "Here"), (clone, "There")):
        side.ok("say", "login", "--title", text, "--body", LONG)
        side.ok("enrich")
    repo.ok("sync")
    done = clone.ok("sync")
    assert "replaced" not in done.out + done.err
    repo.ok("sync")
    assert branch_meta(repo) == branch_meta(clone)
    merged = json.loads(branch_meta(repo))
    pairs = [(request.fields["messages"][1]["content"]) for request in server.asked]
    assert merged["summary"].startswith("In short: Log in")
    assert len(pairs) == 4
