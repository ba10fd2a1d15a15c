"""Paths in a tree: which ones may be in a checkout."""

from __future__ import annotations

import pytest

from wc_cli.ledger.branch.treepaths import is_safe


@pytest.mark.parametrize(
    "path",
    [
        "config.toml",
        "graph/baseline/threads/a/entries.jsonl",
        ".gitignore",
        "docs/.github/git~2",
        "a b/ü.md",
        "git",
        "x..",
    ],
)
def test_what_may_be_there(path: str) -> None:
    assert is_safe(path)


@pytest.mark.parametrize(
    "path",
    [
        "",
        "/etc/passwd",
        "a//b",
        "../x",
        "a/./b",
        ".git/config",
        "a/.GIT/hooks/pre-commit",
        "GIT~1/config",
        ".git./config",
        ".git /config",
        ".git::$INDEX_ALLOCATION/config",
        ".g\u200cit/config",
        "\ufeff.git/config",
        "a\\..\\b",
        "a\\.git\\config",
        "...",
    ],
)
def test_what_may_not(path: str) -> None:
    assert not is_safe(path)
