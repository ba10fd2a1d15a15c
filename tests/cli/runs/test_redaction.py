"""Secrets in the output of agents are hidden, and only they."""

from __future__ import annotations

import time

import pytest

from wc_cli.agents.runs.output import without_secrets

LONG = "a1B2" * 12


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (f"token ghp_{LONG} ok", "token … ok"),
        (f"github_pat_{LONG}", "…"),
        (f"glpat-{LONG}", "…"),
        ("id AKIAIOSFODNN7EXAMPLE.", "id …."),
        (f'"sk-ant-api03-{LONG}"', '"…"'),
        ("xoxb-123456789-abcdef", "…"),
        (f"eyJhbGciOiJIUzI1.{LONG}.{LONG}", "…"),
        ("-H 'authorization: token abc'", "-H 'authorization: token …'"),
        ("Authorization: abc", "Authorization: …"),
        (f"bearer {LONG}", "bearer …"),
        ("postgres://app:word@db:5432/x", "postgres://app:…@db:5432/x"),
        ("https://h/p?a=1&access_token=x&b", "https://h/p?a=1&access_token=…&b"),
        ("DB_PASSWORD='hunter22'", "DB_PASSWORD='…'"),
        (f"-----BEGIN PRIVATE KEY-----\n{LONG}\n{LONG}", "…"),
    ],
)
def test_a_secret_is_hidden_by_its_form(text: str, shown: str) -> None:
    hidden = without_secrets(text, {})
    assert hidden == shown
    assert without_secrets(hidden, {}) == hidden


@pytest.mark.parametrize(
    "text",
    [
        "unexpected token: identifier",
        "the bearer of good news and of more",
        "pip install sk-learn-is-a-long-name",
        "ssh://git@example.com:22/app.git",
        "https://example.com/a?page=2",
        "for key=value in the documentation",
        "---- BEGIN ----",
    ],
)
def test_other_text_stays(text: str) -> None:
    assert without_secrets(text, {}) == text


def test_the_values_of_variables_are_hidden() -> None:
    env = {"SERVICE_TOKEN": "correct horse", "HOME": "/home/pat", "KEY": "short"}
    text = "correct horse in /home/pat is short"
    assert without_secrets(text, env) == "… in /home/pat is short"


@pytest.mark.parametrize(
    "part",
    [
        "sk-",
        "-----BEGIN PRIVATE KEY-----",
        "a://",
        "KEY",
        "Bearer ",
        "eyJ",
        "?key=",
        " ",
    ],
)
def test_no_output_takes_long(part: str) -> None:
    text = part * (200_000 // len(part))
    start = time.process_time()
    without_secrets(text, {})
    assert time.process_time() - start < 5
