"""--max-tokens: no longer than asked, and the rest is one command away."""

from __future__ import annotations

import json
import re
import shlex
from typing import TYPE_CHECKING

import pytest

from tests.conftest import Machine

if TYPE_CHECKING:
    from tests.conftest import Repo


@pytest.fixture(scope="module")
def repo(tmp_path_factory: pytest.TempPathFactory) -> Repo:
    """A thread of twelve entries, two of them long."""
    repo = Machine(tmp_path_factory.mktemp("budget")).repo()
    repo.ok("new", "login", "--title", "Log in", "--as", "Codex")
    for number in range(1, 12):
        text = "All of it. " * (500 if number in {3, 8} else 20)
        words = ["--title", f"Step {number}", "--body", f"{number}. {text}"]
        repo.ok("ack", "login", *words, "--as", "Codex")
    return repo


def commands(text: str) -> list[list[str]]:
    """The commands at the ends of lines, without ``wc``."""
    return [
        shlex.split(line)[1:] for line in re.findall(r": (wc .*)$", text, re.MULTILINE)
    ]


def test_the_text_is_never_longer_and_its_commands_show_the_rest(repo: Repo) -> None:
    waiting = [["read", "login", "--max-tokens", "400", "--limit", "9"]]
    whole: list[str] = []
    while waiting:
        words = waiting.pop()
        done = repo.ok(*words)
        if "--max-tokens" in words:
            assert len(done.out) + len(done.err) <= 1600
        whole += re.findall(r"^#(\d+) · .* · \w{26}$", done.out, re.MULTILINE)
        waiting += commands(done.out)
        waiting += [line for line in commands(done.err) if "--peek" not in line]
    assert sorted(map(int, whole)) == [*range(12)]


def test_what_was_read_in_part_stays_new(repo: Repo) -> None:
    repo.ok("read", "login", "--max-tokens", "500", "--as", "Sam")
    new = repo.json("read", "login", "--new", "--peek", "--as", "Sam")
    assert len(new["entries"]) == 12
    words = ("read", "login", "--new", "--max-tokens", "500", "--as", "Sam")
    assert repo.ok(*words).out == repo.ok(*words).out
    repo.ok("read", "login", "--max-tokens", "9000", "--as", "Sam")
    assert repo.json("read", "login", "--new", "--as", "Sam")["entries"] == []


def test_json_is_never_longer(repo: Repo) -> None:
    for tokens in (300, 500, 900, 2500):
        words = ("read", "login", "--json", "--max-tokens", str(tokens))
        line = repo.ok(*words).out
        assert len(line) - 1 <= tokens * 4
        fields = json.loads(line)
        left_out = sum(part["entries"] for part in fields.get("left_out", ()))
        assert left_out + len(fields["entries"]) == 12
        assert fields["entries"][-1]["idx"] == 11


def test_too_few_are_refused_with_the_least(repo: Repo) -> None:
    done = repo.wc("read", "login", "--max-tokens", "20")
    assert done.code == 2
    least = re.findall(r"at least (\d+) tokens", done.err)[0]
    assert repo.ok("read", "login", "--max-tokens", least).out
    less = repo.wc("read", "login", "--max-tokens", str(int(least) - 1))
    assert less.code == 2


def test_updates_are_never_longer_and_their_commands_show_the_rest(repo: Repo) -> None:
    words = ["updates", "--since", "2026-01-01", "--max-tokens", "120", "--limit", "9"]
    waiting, shown = [words], []
    while waiting:
        done = repo.ok(*waiting.pop())
        assert len(done.out) + len(done.err) <= 480
        shown += re.findall(r"login #(\d+)", done.out)
        waiting += commands(done.out)
        if "--limit 9" in done.err:
            waiting += commands(done.err)
    assert sorted(set(map(int, shown))) == [*range(12)]
    assert "login #11" in repo.ok(*words[:-2]).out


def test_hits_are_never_longer_and_the_command_continues_after_them(
    repo: Repo,
) -> None:
    words = ["search", "step", "--max-tokens", "150"]
    waiting, shown = [words], []
    while waiting:
        done = repo.ok(*waiting.pop())
        assert len(done.out) + len(done.err) <= 600
        shown += re.findall(r"^login #(\d+)", done.out, re.MULTILINE)
        waiting += commands(done.err)
    whole = repo.ok("search", "step").out
    assert shown == re.findall(r"^login #(\d+)", whole, re.MULTILINE)
    assert repo.wc("search", "step", "--max-tokens", "5").code == 2
