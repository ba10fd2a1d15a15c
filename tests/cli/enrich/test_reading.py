"""Reading summaries: an author's, a model's, and leads."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.cli.enrich.modelserver import ModelServer
from tests.cli.enrich.test_enrich import LONG, configure
from tests.conftest import Machine

if TYPE_CHECKING:
    from tests.conftest import Repo

CODEX = ["--as", "Codex"]


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Repo:
    """A thread with an entry of each kind of summary; nobody changes it."""
    repo = Machine(tmp_path_factory.mktemp("told")).repo()
    repo.ok("new", "retries", "--title", "Retries", "--body", LONG, *CODEX)
    with ModelServer() as server:
        configure(repo, server)
        repo.ok("enrich")
    body = "# Limit\n\nThe limit is **five** now, as agreed.\n\n```\nmax = 5\n```"
    repo.ok("say", "retries", "--title", "Limit", "--body", body, *CODEX, "--to", "Pat")
    own = ["--summary", "In my own words.", "--kind", "decision"]
    repo.ok("say", "retries", "--title", "Jitter", "--body", LONG, *own, *CODEX)
    repo.ok("ack", "retries", *CODEX)
    return repo


def test_a_thread_by_its_summaries(told: Repo) -> None:
    done = told.ok("read", "retries", "--summary-only")
    assert done.out == (
        "retries: Retries\n"
        "OPEN · ball: Pat · 4 entries\n"
        "\n"
        "#0 · Codex (Pat): Retries → Codex (Pat)\n"
        "    In short: Retries We back off exponentially and give up after five "
        "attempts. We\n"
        "#1 · Codex (Pat): Limit → Pat\n"
        "    The limit is five now, as agreed.\n"
        "#2 · Codex (Pat) · decision: Jitter\n"
        "    In my own words.\n"
        "#3 · Codex (Pat): Ack\n"
    )


def test_the_same_as_json(told: Repo) -> None:
    fields = told.json("read", "retries", "--summary-only", "--limit", "3")
    entries = fields["entries"]
    assert [entry["summary_by"] for entry in entries] == ["model", "lead", "author"]
    assert entries[1]["summary"] == "The limit is five now, as agreed."
    assert [entry["body_length"] for entry in entries][2] == len(LONG)
    assert all("body" not in entry for entry in entries)
    assert fields["next_entry_index"] == 3
    last = told.json("read", "retries", "--summary-only", "--from", "-1")["entries"][0]
    assert "summary" not in last


def test_what_was_summarised_was_not_read(told: Repo) -> None:
    assert told.json("list")["threads"][0]["new_for_you"] == 4
    done = told.ok("read", "retries", "--summary-only", "--limit", "1")
    assert done.err == "3 more: wc read retries --from 1 --limit 1 --summary-only\n"
    assert told.json("list")["threads"][0]["new_for_you"] == 4


def test_a_list_with_what_was_said_last(told: Repo) -> None:
    assert told.ok("list", "--summaries").out == (
        "   TOPIC    BALL  STATUS  ENTRIES     AGE  TITLE\n"
        ">  retries  Pat   OPEN    4 (+4 new)  now  Retries\n"
        "     Codex (Pat): In my own words.\n"
    )
    (thread,) = told.json("list", "--summaries")["threads"]
    assert (thread["summary"], thread["summary_by"], thread["summary_of"]) == (
        "In my own words.",
        "author",
        "Codex (Pat)",
    )
    assert "summary" not in told.json("list")["threads"][0]
    assert told.ok("list", "--open", "--ball", "anyone", "--summaries").out == ""
