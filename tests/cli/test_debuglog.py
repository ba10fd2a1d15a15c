"""``WATERCOOLER_DEBUG``: what commands did, in the store's own log."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Repo

ON = {"WATERCOOLER_DEBUG": "1"}


@pytest.fixture
def log(repo: Repo) -> Path:
    repo.ok("new", "auth", "--title", "Keys")
    return repo.store / ".local/debug.log"


def noted(log: Path) -> list[dict[str, Any]]:
    return [json.loads(one) for one in log.read_text().splitlines()]


def test_each_command_is_a_line(repo: Repo, log: Path) -> None:
    words = ("--title", "A secret", "--body", "Very", "--to", "Codex", "--role", "pm")
    repo.ok("say", "auth", *words, env=ON)
    repo.fails(3, "read", "nope", env=ON)
    repo.fails(2, "set-status", "auth", "HIDDEN\x1b", env=ON)
    repo.fails(2, "a secret", env=ON)
    said, read, status, unknown = noted(log)
    assert said["action"] == "wc say"
    assert said["arguments"] == {
        "topic": "auth",
        "title": "<8 characters>",
        "body": "<4 characters>",
        "role": "pm",
        "to": "Codex",
    }
    assert (said["outcome"], said["exit"], said["store"]) == ("ok", 0, str(repo.store))
    assert said["duration_ms"] > 0
    assert (read["outcome"], read["exit"]) == ("NOT_FOUND", 3)
    assert (status["action"], status["outcome"]) == ("wc set-status", "INVALID_INPUT")
    assert (unknown["action"], unknown["arguments"]) == (
        "wc ?",
        {"words": "<0 characters>"},
    )
    assert len({one["id"] for one in noted(log)}) == 4
    assert "secret" not in log.read_text()


def test_bodies_are_logged_on_request_and_credentials_never(
    repo: Repo, log: Path
) -> None:
    url = "https://pat:hunter2@example.org/x"
    env = {"WATERCOOLER_DEBUG": "bodies"}
    repo.ok("say", "auth", "--title", "A secret", "--body", f"See {url}", env=env)
    (said,) = noted(log)
    assert said["arguments"]["body"] == "See https://example.org/x"
    assert said["arguments"]["title"] == "A secret"


def test_nothing_is_noted_unless_asked(repo: Repo, log: Path) -> None:
    for value in ("", "0", "off"):
        done = repo.ok("list", env={"WATERCOOLER_DEBUG": value})
        assert done.err == ""
    assert not log.exists()


def test_any_other_value_is_complained_of_once(repo: Repo, log: Path) -> None:
    done = repo.ok("list", env={"WATERCOOLER_DEBUG": "yes"})
    assert done.err == (
        "wc: WATERCOOLER_DEBUG cannot be 'yes', so nothing is logged: "
        "1 logs without texts, bodies with them.\n"
    )
    assert "auth" in done.out
    assert not log.exists()


def test_it_takes_two_megabytes_at_most(repo: Repo, log: Path) -> None:
    log.write_bytes(b"{}\n" * 350_000)
    repo.ok("list", env=ON)
    assert len(noted(log)) == 1
    assert log.with_name("debug.log.1").stat().st_size == 1_050_000


@pytest.mark.parametrize("obstacle", ["folder", "link", "elsewhere"])
def test_a_log_that_cannot_be_written_stops_nothing(
    repo: Repo, log: Path, obstacle: str, tmp_path: Path
) -> None:
    where: Path | str = ""
    if obstacle == "folder":
        log.mkdir()
    elif obstacle == "link":
        log.symlink_to(tmp_path / "outside")
    else:
        where = tmp_path / "gone"
        where.mkdir()
    done = repo.ok("list", env=ON, cwd=where)
    assert "Traceback" not in done.err
    assert not (tmp_path / "outside").exists()


def test_the_log_is_not_a_finding(repo: Repo, log: Path) -> None:
    repo.ok("list", env=ON)
    assert log.exists()
    assert "debug.log" not in repo.settled("doctor").out
    assert "local" not in repo.machine.git("status", "--porcelain", cwd=repo.store)
