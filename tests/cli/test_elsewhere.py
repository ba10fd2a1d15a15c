"""How much waits in other repositories, written for the status line."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from wc_core.attention.status import elsewhere
from wc_core.base.layout import Layout

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Machine, Repo

CODEX = ("--as", "Codex")


@pytest.fixture
def repos(machine: Machine) -> tuple[Repo, Repo]:
    """Two repositories with a thread for Pat; one is named with what needs quoting."""
    app, shop = machine.repo("home/src/app"), machine.repo("home/src/my shop")
    for repo in (app, shop):
        repo.ok("new", "ball", "--title", "T", "--to", "Pat", *CODEX)
    return app, shop


def number(repo: Repo) -> int:
    return elsewhere.load(Layout(str(repo.store)), "pat")


def settle(repo: Repo, **env: str) -> None:
    """What runs in the background after a write."""
    words = [sys.executable, "-m", "wc_cli.run.background", str(repo.store)]
    done = repo.machine.run(words, repo.path, env=env)
    assert not done.code, done


def want(repo: Repo, value: str = "true") -> None:
    repo.ok("config", "--global", "set", "inbox.statusline", value)


def test_nothing_is_written_unless_someone_wants_it(repos: tuple[Repo, Repo]) -> None:
    app, shop = repos
    settle(app)
    app.ok("inbox")
    for repo in repos:
        assert not (repo.store / ".local/elsewhere").exists()
    assert number(shop) == 0


def test_each_store_has_the_number_of_the_others(repos: tuple[Repo, Repo]) -> None:
    app, shop = repos
    want(app)
    shop.ok("new", "more", "--title", "T", "--to", "Pat", "--status", "BLOCKED", *CODEX)
    # The person is meant, whichever agent has just written.
    settle(shop, CLAUDECODE="1", WATERCOOLER_AGENT="Codex")
    assert (number(app), number(shop)) == (2, 1)
    assert app.ok("statusline").out.strip().endswith("· +2 elsewhere")
    shop.ok("say", "ball", "--title", "Done", "--to", "Codex")
    shop.ok("say", "more", "--title", "Done", "--to", "Codex")
    settle(shop)
    assert (number(app), number(shop)) == (0, 1)
    # It belongs there, and is never committed.
    assert not app.json("doctor")["findings"]
    status = app.machine.git("status", "--porcelain", cwd=app.store)
    assert ".local" not in status


def test_the_inbox_brings_it_up_to_date(repos: tuple[Repo, Repo]) -> None:
    app, shop = repos
    want(app)
    app.ok("inbox", "--not", "app")
    assert (number(app), number(shop)) == (1, 1)
    app.ok("config", "--global", "set", "inbox.leave_out", "app")
    app.ok("inbox")
    assert (number(app), number(shop)) == (1, 0)


def test_it_is_removed_when_nobody_wants_it_any_more(repos: tuple[Repo, Repo]) -> None:
    app, shop = repos
    want(app)
    settle(app)
    assert (number(app), number(shop)) == (1, 1)
    want(app, "false")
    settle(shop)
    assert (number(app), number(shop)) == (0, 0)


def test_a_store_that_cannot_be_written_stops_nothing(
    repos: tuple[Repo, Repo], tmp_path: Path
) -> None:
    app, shop = repos
    want(app)
    (shop.store / ".local/elsewhere").symlink_to(tmp_path)
    settle(app)
    assert (number(app), number(shop)) == (1, 0)
    assert not (tmp_path / "pat").exists()
