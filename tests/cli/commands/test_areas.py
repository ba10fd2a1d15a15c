"""Areas: lists, figures and the board by part of the repository."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.contract.inprocess import Here

if TYPE_CHECKING:
    from tests.conftest import Machine


@pytest.fixture
def repo(machine: Machine) -> Here:
    repo = Here(machine, machine.repo().path)
    repo.ok("config", "set", "areas.api", "src/api/**", "branch:api/*")
    repo.ok("config", "set", "areas.ui", "src/ui")
    repo.ok("new", "tokens", "--title", "T", "--file", "src/api/tokens.py")
    repo.ok("new", "form", "--title", "See src/ui/form.py and src/api/x.py")
    repo.ok("new", "branch", "--title", "B", "--branch", "api/v2")
    repo.ok("new", "part", "--title", "P", "--parent", "tokens")
    repo.ok("new", "deep", "--title", "D", "--parent", "part")
    repo.ok("new", "none", "--title", "N", "--file", "README.md")
    return repo


def listed(repo: Here, *words: str) -> set[str]:
    return {row["topic"] for row in repo.json("list", *words)["threads"]}


def test_a_list_has_the_threads_of_an_area(repo: Here) -> None:
    assert listed(repo, "--area", "api") == {"tokens", "form", "branch", "part", "deep"}
    assert listed(repo, "--area", "ui") == {"form"}
    assert listed(repo, "--area", "api", "--file", "src/ui/form.py") == {"form"}
    repo.ok("say", "none", "--title", "And src/ui/list.py")
    assert listed(repo, "--area", "ui") == {"form", "none"}
    repo.ok("set-status", "form", "CLOSED")
    assert listed(repo, "--area", "ui", "--open") == {"none"}


def test_a_search_counts_the_hits_of_areas(repo: Here) -> None:
    answer = repo.json("search", "author:pat", "--facets")
    assert answer["facets"]["area"] == [
        {"value": "api", "hits": 5},
        {"value": "ui", "hits": 1},
    ]
    assert repo.json("search", "author:pat", "--area", "api")["total"] == 5
    assert "area: api 5, ui 1\n" in repo.ok("search", "author:pat", "--facets").out
    assert "facets" not in repo.json("search", "author:pat")


def test_an_area_that_is_not_there_is_named(repo: Here) -> None:
    error = repo.fails(2, "list", "--area", "apis")
    assert "Did you mean: api" in error
    assert "Areas: api, ui" in error


def test_figures_by_area(repo: Here) -> None:
    repo.ok("set-status", "form", "CLOSED")
    assert repo.json("stats")["areas"] == [
        {"area": "api", "open": 4, "threads": 5},
        {"area": "ui", "open": 0, "threads": 1},
    ]
    assert "AREA" in repo.ok("stats").out


def test_the_board_by_area(repo: Here) -> None:
    columns = repo.json("board", "--once", "--by", "area")["columns"]
    topics = {
        column["name"]: {card["topic"] for card in column["threads"]}
        for column in columns
    }
    assert topics == {
        "api": {"tokens", "form", "branch", "part", "deep"},
        "ui": {"form"},
        "No area": {"none"},
    }
    assert "No area" in repo.ok("board", "--once", "--by", "area").out
    assert "--by area" in repo.fails(2, "board", "--once", "--by", "size")


def test_an_area_that_cannot_be_read_is_damage(repo: Here) -> None:
    (repo.store / "config.toml").write_text("[areas]\napi = 1\n")
    assert "config.toml" in repo.fails(6, "say", "none", "--title", "x")
    assert "config.toml" in repo.ok("config").err
