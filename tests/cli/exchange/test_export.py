"""``wc export``: what each format has, and what is refused."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.contract.inprocess import Here
from wc_core.base.layout import Layout
from wc_core.reading.exchange import jsonexport

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Machine

CODEX = ("--as", "Codex")
HOSTILE = "<script>alert(1)</script> & \x1b[31m"


@pytest.fixture
def repo(machine: Machine) -> Here:
    repo = Here(machine, machine.repo().path)
    repo.ok("new", "login", "--title", "Log <in>", "--body", HOSTILE, *CODEX)
    repo.ok("new", "pay", "--title", "Pay", *CODEX)
    return repo


def decide(repo: Here, topic: str, title: str, *words: str) -> None:
    repo.ok("say", topic, "--title", title, "--kind", "decision", *words, *CODEX)


def log(repo: Here, topic: str) -> bytes:
    with open(Layout(str(repo.store)).log(topic), "rb") as file:
        return file.read()


def test_json_has_the_log_of_every_thread(repo: Here) -> None:
    done = repo.ok("export", "--all", "--format", "json")
    fields = json.loads(done.out)
    assert (fields["format"], fields["version"]) == ("watercooler", 1)
    threads = {thread["topic"]: thread for thread in fields["threads"]}
    assert set(threads) == {"login", "pay"}
    for topic, thread in threads.items():
        assert jsonexport.log_bytes(thread["log"]) == log(repo, topic)
    assert threads["login"]["title"] == "Log <in>"
    assert "\x1b" not in done.out


def test_markdown_is_the_page_of_the_thread(repo: Here) -> None:
    repo.ok("reindex")
    out = repo.ok("export", "login").out
    assert out.startswith("# login")
    assert "Title: Log <in>" in out
    assert "\x1b" not in out


def test_it_writes_a_file(repo: Here, tmp_path: Path) -> None:
    path = tmp_path / "out.json"
    done = repo.ok("export", "login", "--format", "json", "--output", str(path))
    assert (done.out, done.err) == ("", f"wrote {path}\n")
    assert json.loads(path.read_text())["threads"][0]["topic"] == "login"


def test_what_cannot_be_exported(repo: Here) -> None:
    for words, code, said in (
        ((), 2, "--all"),
        (("login", "--all"), 2, "--all"),
        (("login", "--format", "pdf"), 2, "md, json"),
        (("login", "--format", "html"), 2, "md, json"),
        (("nothing",), 3, "nothing"),
        (("login", "--output", "/nowhere/at/all"), 7, "could not be written"),
    ):
        done = repo.wc("export", *words)
        assert done.code == code
        assert done.out == ""
        assert said in done.err


def test_a_terminal_gets_nothing_that_it_would_obey_and_a_file_gets_everything(
    repo: Here, tmp_path: Path
) -> None:
    decide(repo, "pay", "Turned", "--body", "Around \u202e it")
    file = tmp_path / "out"
    repo.ok("export", "pay", "--output", str(file))
    assert "\u202e" not in repo.ok("export", "pay").out
    assert "\u202e" in file.read_text(encoding="utf-8")
