"""``wc export``: what each format has, and what is refused."""

from __future__ import annotations

import json
from html.parser import HTMLParser
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


class Tags(HTMLParser):
    """The tags and the text of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        assert not {"src", "href"} & {name for name, _ in attrs}

    def handle_data(self, data: str) -> None:
        self.text += data


def test_a_web_page_is_escaped_and_has_no_other_files(repo: Here) -> None:
    page = Tags(repo.ok("export", "login", "pay", "--format", "html").out)
    assert "script" not in page.tags
    assert "link" not in page.tags
    assert page.tags.count("article") == 2
    assert "<script>alert(1)</script> &" in page.text
    assert "\x1b" not in page.text


def test_decisions_become_numbered_records(repo: Here) -> None:
    decide(repo, "login", "Use Argon2", "--body", "bcrypt cuts at 72 bytes.")
    decide(repo, "pay", "Old words")
    repo.ok("amend", "pay", "--title", "Cards only", *CODEX)
    decide(repo, "login", "Wrong")
    repo.ok("retract", "login", *CODEX)
    body = "# Context\n\nTwo keys.\n\n# Decision\n\nOne.\n\n# Consequences\n\nLess."
    decide(repo, "pay", "One key", "--body", body)
    out = repo.ok("export", "--all", "--format", "adr").out
    titles = [line for line in out.splitlines() if line.startswith("# ")]
    first, second, third = out.split("# 2. ")[0], *out.split("# 2. ")[1].split("# 3. ")
    assert titles[:3] == ["# 1. Use Argon2", "# 2. Cards only", "# 3. One key"]
    assert "## Status\n\nAccepted\n\n## Context\n\nDecided in the thread" in first
    assert "## Decision\n\nbcrypt cuts at 72 bytes." in first
    assert "## Decision\n\nCards only" in second
    assert "Accepted\n\n# Context\n\nTwo keys." in third


def test_it_writes_a_file(repo: Here, tmp_path: Path) -> None:
    path = tmp_path / "out.json"
    done = repo.ok("export", "login", "--format", "json", "--output", str(path))
    assert (done.out, done.err) == ("", f"wrote {path}\n")
    assert json.loads(path.read_text())["threads"][0]["topic"] == "login"


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        ((), 2, "--all"),
        (("login", "--all"), 2, "--all"),
        (("login", "--format", "pdf"), 2, "md, json, html, adr"),
        (("login", "--format", "adr"), 3, "--kind decision"),
        (("nothing",), 3, "nothing"),
        (("login", "--output", "/nowhere/at/all"), 7, "could not be written"),
    ],
)
def test_what_cannot_be_exported(
    repo: Here, words: tuple[str, ...], code: int, said: str
) -> None:
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
