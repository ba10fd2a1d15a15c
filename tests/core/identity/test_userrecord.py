"""The record of git's user: what it has, when it is replaced, and when it counts."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import pytest

from wc_core.base.layout import Layout
from wc_core.ledger.git.authorship import Person
from wc_core.ledger.git.private import private_layout
from wc_core.ledger.threads.settings import Settings
from wc_core.people.identity.resolve import Asked, Evidence, identify
from wc_core.people.identity.userrecord import (
    NOBODY,
    UserRecord,
    configured_user,
    is_news,
    machine_path,
    recorded_user,
)

if TYPE_CHECKING:
    from pathlib import Path

PAT = UserRecord(Person("Pat", "pat@example.org"))
SYSTEM = UserRecord(Person("Staff", "staff@example.org"), systemwide=True)


def _config(path: Path, name: str, email: str = "") -> str:
    path.write_text(f"[user]\n\tname = {name}\n\temail = {email}\n")
    return str(path)


def _write(path: str, fields: Any) -> None:
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        json.dump(fields, file)


@pytest.mark.parametrize(
    ("own", "system", "expected"),
    [
        (("Pat", "p@x"), ("Staff", "s@x"), UserRecord(Person("Pat", "p@x"))),
        # The address alone may be that of the whole machine.
        (("Pat", ""), ("Staff", "s@x"), UserRecord(Person("Pat", "s@x"))),
        (("Pat", ""), ("", ""), UserRecord(Person("Pat", ""))),
        (("", "p@x"), ("Staff", ""), UserRecord(Person("Staff", "p@x"), True)),
        (("", "p@x"), ("", "s@x"), NOBODY),
    ],
)
def test_the_configured_user(
    tmp_path: Path, own: tuple[str, str], system: tuple[str, str], expected: UserRecord
) -> None:
    # A key without a value would hide that of the whole machine.
    values = {"name": own[0], "email": own[1]}
    lines = [f"	{key} = {value}" for key, value in values.items() if value]
    (tmp_path / ".gitconfig").write_text("\n".join(["[user]", *lines, ""]))
    path = _config(tmp_path / "system", *system)
    env = {"HOME": str(tmp_path), "GIT_CONFIG_SYSTEM": path}
    assert configured_user(None, env) == expected


@pytest.mark.parametrize(
    ("user", "record", "env", "expected"),
    [
        (PAT, NOBODY, {}, True),
        (PAT, PAT, {}, False),
        (PAT, UserRecord(Person("Patricia", "p@x")), {}, True),
        (PAT, SYSTEM, {}, True),
        (NOBODY, PAT, {}, False),
        # What is left where the user's own configuration is hidden replaces nothing.
        (SYSTEM, PAT, {}, False),
        (SYSTEM, NOBODY, {}, True),
        (SYSTEM, UserRecord(Person("Old", ""), True), {}, True),
        # Nor does another file in its place.
        (UserRecord(Person("Bot", "b@x")), PAT, {"GIT_CONFIG_GLOBAL": "/bot"}, False),
        (UserRecord(Person("Bot", "b@x")), NOBODY, {"GIT_CONFIG_GLOBAL": "/bot"}, True),
    ],
)
def test_when_the_record_is_replaced(
    user: UserRecord, record: UserRecord, env: dict[str, str], expected: object
) -> None:
    assert is_news(user, record, env) is expected


def test_the_record_of_the_store_counts_before_that_of_the_machine(
    tmp_path: Path,
) -> None:
    root, env = str(tmp_path / "store"), {"HOME": str(tmp_path / "home")}
    assert recorded_user(root, env) == NOBODY
    _write(machine_path(env), SYSTEM.fields())
    assert recorded_user(root, env) == SYSTEM
    assert recorded_user("", env) == SYSTEM
    _write(private_layout(Layout(root)).git_user, PAT.fields())
    assert recorded_user(root, env) == PAT
    assert recorded_user(root, {}) == PAT
    assert recorded_user("", {}) == NOBODY


@pytest.mark.parametrize(
    "fields",
    [
        None,
        [],
        {},
        PAT.fields() | {"uid": os.getuid() + 1},
        PAT.fields() | {"name": 7},
        {"uid": os.getuid(), "name": "Pat"},
    ],
)
def test_a_record_of_another_user_or_a_damaged_one_names_nobody(
    tmp_path: Path, fields: Any
) -> None:
    _write(private_layout(Layout(str(tmp_path))).git_user, fields)
    assert recorded_user(str(tmp_path), {}) == NOBODY


@pytest.mark.parametrize(
    ("env", "own", "system", "record", "expected"),
    [
        ({"WATERCOOLER_USER": "kim"}, "Pat", "Staff", PAT, ("kim", "user")),
        ({}, "Patricia", "Staff", PAT, ("Patricia", "git user")),
        ({}, "", "Staff", PAT, ("Pat", "git user")),
        ({}, "", "Staff", SYSTEM._replace(user=Person("Old")), ("Staff", "git user")),
        ({}, "", "", SYSTEM, ("Staff", "git user")),
        ({}, "", "Staff", NOBODY, ("Staff", "git user")),
        ({}, "", "", NOBODY, ("os-user", "user")),
    ],
)
def test_which_of_them_names_the_person(
    tmp_path: Path,
    env: dict[str, str],
    own: str,
    system: str,
    record: UserRecord,
    expected: tuple[str, str],
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    if own:
        _config(home / ".gitconfig", own)
    full = {"HOME": str(home), "USER": "os-user", **env}
    full["GIT_CONFIG_SYSTEM"] = os.devnull
    if system:
        full["GIT_CONFIG_SYSTEM"] = _config(tmp_path / "system", system)
    evidence = Evidence(recorded=lambda: record)
    identity = identify(Asked(), full, None, Settings(), evidence)
    assert (identity.author, identity.source) == expected
    agent = identify(Asked("Codex"), full, None, Settings(), evidence)
    assert agent.name.tag == expected[0]
