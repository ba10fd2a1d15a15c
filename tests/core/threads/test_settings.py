"""Settings of this and of older stores; a bad file is damage, never a crash."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.strategies import json_values, relaxed
from wc_core.base.names import Name
from wc_core.ledger.configuration.keys import BOUNCES
from wc_core.ledger.threads.settings import Settings, load

if TYPE_CHECKING:
    from pathlib import Path

FULL = """
unknown = 1
[ball]
enforce = "refuse"
unknown = 2
[identity]
seats = "off"
[aliases]
CC = "Claude Code"
[counterparts]
Codex = "Claude Code"
"Claude Code@fix" = ["Cursor", "Codex"]
[topics.auth.counterparts]
Codex = "Cursor"
[topics.other]
[elsewhere]
x = 1
"""


def settings(root: Path, **files: str) -> Settings:
    for name, text in files.items():
        (root / name.replace("_", ".")).write_text(text)
    return load(str(root), {})


def test_everything_that_can_be_set_is_read_and_the_rest_left_alone(
    tmp_path: Path,
) -> None:
    found = settings(tmp_path, config_toml=FULL)
    assert found.damage is None
    assert found.enforce == "refuse"
    assert found.seats == "off"
    assert found.counterparts == {
        "codex": ("Claude Code",),
        "claudecode@fix": ("Cursor", "Codex"),
    }
    assert found.topic_counterparts == {"auth": {"codex": ("Cursor",)}, "other": {}}
    assert found.directory.canonical(Name("cc")) == Name("Claude Code")
    assert found.directory.canonical(Name("claude")) == Name("Claude Code")


def test_keys_that_set_nothing_are_named(tmp_path: Path) -> None:
    keys = ["unknown", "ball.unknown", "elsewhere"]
    assert settings(tmp_path, config_toml=FULL).ignored == tuple(
        f"config.toml: {key}" for key in keys
    )
    text = '[topics.auth]\ncounterpart = "x"\n[git]\nsigned = true\n[aliases]\na = 5\n'
    assert settings(tmp_path, config_toml=text).ignored == (
        "config.toml: topics.auth.counterpart",
        "config.toml: git.signed",
        "config.toml: aliases.a",
    )


CODEX = {"codex": ("Claude",)}
OLDER_FORMS: list[tuple[dict[str, Any], dict[str, Any], dict[str, Any], list[str]]] = [
    # What a file has, the counterparts, those by thread, and what is ignored.
    ({"counterpart": "Claude"}, {"*": ("Claude",)}, {}, []),
    ({"counterpart": ["Claude", "Codex"]}, {"*": ("Claude", "Codex")}, {}, []),
    ({"counterpart": {"Codex": "Claude"}}, CODEX, {}, []),
    ({"counterparts": {"codex": ["Claude"]}}, CODEX, {}, []),
    (
        {"topics": {"a": "Claude", "b": {"counterpart": {"Codex": "Claude"}}}},
        {},
        {"a": {"*": ("Claude",)}, "b": CODEX},
        [],
    ),
    (
        {"topics": {"a": {"counterpart": "Claude", "ball": "x"}}},
        {},
        {"a": {"*": ("Claude",)}},
        ["topics.a.ball"],
    ),
    # A topic may be written as a title.
    ({"topics": {"Log In": "Claude"}}, {}, {"log-in": {"*": ("Claude",)}}, []),
    ({"topics": []}, {}, {}, ["topics"]),
    ({"default_ball": "Team"}, {}, {}, ["default_ball"]),
    ({"canonical": {"a": " "}}, {}, {}, ["canonical.a"]),
    ({"agents": {"codex": {"counterpart": "Claude"}}}, CODEX, {}, []),
    (
        {"agents": {"codex": {"counterpart": "Claude", "default_role": "pm"}, "x": 1}},
        CODEX,
        {},
        ["agents.codex.default_role", "agents.x"],
    ),
    ({"default": "codex", "canonical": {"a": 1}}, {}, {}, ["default", "canonical.a"]),
]


@pytest.mark.parametrize("file", ["config.json", "agents.json"])
@pytest.mark.parametrize(("fields", "all_threads", "topics", "ignored"), OLDER_FORMS)
def test_the_forms_of_older_files(
    tmp_path: Path,
    fields: dict[str, Any],
    all_threads: dict[str, Any],
    topics: dict[str, Any],
    ignored: list[str],
    file: str,
) -> None:
    (tmp_path / file).write_text(json.dumps(fields))
    loaded = load(str(tmp_path), {})
    assert loaded.damage is None
    assert loaded.counterparts == all_threads
    assert loaded.topic_counterparts == topics
    assert loaded.ignored == tuple(f"{file}: {key}" for key in ignored)


def test_an_older_file_names_agents(tmp_path: Path) -> None:
    agents = {"agents": {"cc": {"name": "Claude"}}, "aliases": {"cx": "Codex"}}
    loaded = settings(tmp_path, agents_json=json.dumps(agents))
    assert loaded.directory.canonical(Name("CC")) == Name("Claude Code")
    assert loaded.directory.canonical(Name("cx")) == Name("Codex")


@pytest.mark.parametrize(
    ("text", "bounces", "neighbor"),
    [
        ("", BOUNCES, "advise"),
        ("[ball]\nbounces = 2\n[claims]\nneighbor = 'block'\n", 2, "block"),
        ("[ball]\nbounces = 0\n[claims]\nneighbor = 'readonly'\n", 6, "readonly"),
        ("[ball]\nbounces = 7\n[claims]\nneighbor = 1\n", BOUNCES, "advise"),
        ("[ball]\nbounces = 'x'\n[claims]\nttl = 'x'\n", BOUNCES, "advise"),
    ],
)
def test_keys_that_went_still_restrict(
    tmp_path: Path, text: str, bounces: int, neighbor: str
) -> None:
    loaded = settings(tmp_path, config_toml=text)
    assert (loaded.bounces, loaded.neighbor, loaded.damage) == (bounces, neighbor, None)
    assert ("config.toml: ball.bounces" in loaded.ignored) == bool(text)


@pytest.mark.parametrize(
    "text",
    [
        '[ball]\nenforce = "always"',
        "[ball]\nenforce = true",
        "[ball]\nenforce = []",
        "ball = 1",
        '[identity]\nseats = "on"',
        "[identity]\nseats = false",
        "claims = 1",
        "counterparts = []",
        "[counterparts]\nCodex = 1",
        "[counterparts]\nCodex = [1]",
        "[topics]\nauth = 1",
        "[topics.auth]\ncounterparts = 1",
        "aliases = 1",
        "nonsense",
        "[ball",
        "a = " + "[" * 5000,
        "\0",
    ],
)
def test_a_bad_file_is_damage_and_the_defaults_stay(tmp_path: Path, text: str) -> None:
    found = settings(tmp_path, config_toml=text)
    assert found.damage is not None
    assert (found.damage.file, found.damage.lost) == ("config.toml", False)
    assert "settings" in found.damage.message
    assert found._replace(damage=None) == Settings()


def test_a_file_that_is_none_is_damage(tmp_path: Path) -> None:
    (tmp_path / "config.toml").mkdir()
    assert load(str(tmp_path), {}).damage is not None
    (tmp_path / "config.toml").rmdir()
    os.mkfifo(tmp_path / "config.toml")
    assert load(str(tmp_path), {}).damage is not None
    (tmp_path / "config.toml").unlink()
    (tmp_path / "config.toml").write_bytes(b'[aliases]\na = "\xff"')
    assert load(str(tmp_path), {}).damage is not None


AGENTS = {
    "canonical": {"claude": "Claude", "codex": "Codex", "team": "Team"},
    "counterpart": {"Codex": "Claude", "Claude": "Codex", "Team": "Claude"},
    "default_ball": "Team",
}


@pytest.mark.parametrize("folder", ["", "threads"])
@pytest.mark.parametrize("name", ["agents.json", "config.json"])
def test_settings_of_older_stores_are_read(
    tmp_path: Path, folder: str, name: str
) -> None:
    (tmp_path / folder).mkdir(exist_ok=True)
    (tmp_path / folder / name).write_text(json.dumps(AGENTS))
    found = load(str(tmp_path), {})
    assert found.damage is None
    assert found.counterparts["codex"] == ("Claude",)
    # An older spelling and ours are the same agent.
    assert found.directory.same("Claude", "Claude Code")
    assert found.directory.canonical(Name("TEAM")) == Name("Team")


def test_the_newer_file_wins(tmp_path: Path) -> None:
    (tmp_path / "threads").mkdir()
    for name, to in (
        ("agents.json", "a"),
        ("threads/agents.json", "b"),
        ("config.json", "c"),
        ("threads/config.json", "d"),
    ):
        (tmp_path / name).write_text(json.dumps({"counterpart": {"x": to, to: "y"}}))
        assert load(str(tmp_path), {}).counterparts["x"] == (to,)
    found = settings(tmp_path, config_toml='[counterparts]\nX = "e"')
    assert found.counterparts["x"] == ("e",)
    assert found.counterparts["a"] == ("y",)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "5",
        "{",
        '{"counterpart":{"x":5}}',
        '{"counterpart":7}',
        '{"topics":{"a":1}}',
        '{"counterpart":null}',
        '{"counterpart":["Claude",""]}',
        "[" * 100_000,
    ],
)
def test_a_bad_file_of_an_older_store_leaves_the_others_in_force(
    tmp_path: Path, text: str
) -> None:
    found = settings(tmp_path, agents_json=text, config_toml=FULL)
    assert found.damage is not None
    assert found.damage.file == "agents.json"
    assert found.enforce == "refuse"
    assert found.counterparts["codex"] == ("Claude Code",)


@relaxed
@given(
    fields=st.dictionaries(
        st.sampled_from(["canonical", "counterpart", "other"]), json_values
    )
)
def test_whatever_an_older_file_holds_nothing_raises(
    tmp_path_factory: pytest.TempPathFactory, fields: dict[str, Any]
) -> None:
    root = tmp_path_factory.mktemp("s")
    found = settings(root, config_json=json.dumps(fields))
    assert found.enforce == "warn"


@pytest.mark.parametrize("value", ["off", "ask", "0"])
def test_what_an_unknown_variable_switched_off_stays_off(
    tmp_path: Path, value: str
) -> None:
    loaded = load(str(tmp_path), {"WATERCOOLER_NEVER_HEARD": value})
    assert (loaded.push, loaded.fetch_every, loaded.carry) == (False, 0, "off")
    for env in ({"WATERCOOLER_NEVER_HEARD": "5"}, {"OTHER": value}, {}):
        assert load(str(tmp_path), env) == Settings()


def test_an_unknown_variable_that_refused_still_does(tmp_path: Path) -> None:
    assert load(str(tmp_path), {"WATERCOOLER_NEVER": "refuse"}).guard == "refuse"
