"""A person's own preferences, ``~/.config/watercooler/config.toml``.

They rank below the settings and the rules of a repository: none of them changes what is
written, only what this person is shown and when they are called.
"""

from __future__ import annotations

import os
from types import MappingProxyType

from wc_core.base import variables
from wc_core.base.files import read_plain
from wc_core.base.lean.contextlib import suppress
from wc_core.base.values import NamedTuple
from wc_core.ledger.configuration.keys import (
    LOCAL,
    NAMES,
    NUMBER,
    OFF,
    RUN_MINUTES,
    SERVER,
    SWITCH,
    TEXTS,
    WAKES_PER_HOUR,
    Key,
    ModelServer,
    ValueOfKeyError,
    checked,
    find,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

MEANING_VARIABLE = "WATERCOOLER_MEANING"
# A word in the place of a command that notifies.
DESKTOP = "desktop"
NO_SERVER = ModelServer()
KEYS = (
    Key(
        "notify.command",
        TEXTS,
        "What notifies you: desktop, a command that gets the event, or several.",
        field="notify_commands",
    ),
    Key(
        "inbox.leave_out",
        TEXTS,
        "Repositories that wc inbox leaves out: names or paths.",
        field="left_out",
    ),
    Key(
        "inbox.statusline",
        SWITCH,
        "Whether the status line counts what waits in other repositories.",
        field="shows_elsewhere",
    ),
    Key(
        "wake.from",
        NAMES,
        "Whose balls from elsewhere wake your agents: known, anyone, or names.",
        ("known",),
        field="wake_from",
    ),
    Key(
        "run.from",
        NAMES,
        "Whose balls wc run starts agents for: own (written here), known, anyone, or "
        "names.",
        ("own",),
        field="run_from",
    ),
    Key(
        "land.by",
        NAMES,
        "Whose approvals from other clones count for wc land here.",
        (),
        field="land_by",
    ),
    Key(
        "run.AGENT",
        TEXTS,
        "The command that runs an agent, as codex.",
        field="run_commands",
        former=(
            ".environment",
            ".cloud_minutes",
            ".minutes",
            ".worktrees",
            "-cloud",
            "-diff",
        ),
    ),
    Key(
        "summaries.endpoint",
        SERVER,
        "The server and its model that summarise what you write; none: nothing is "
        "sent.",
        field="summaries_endpoint",
    ),
    Key(
        "meaning.endpoint",
        SERVER,
        "What searches use besides words: local (this machine), off, or a server and "
        "its model, which entries and queries are sent to.",
        field="meaning_endpoint",
        allowed=(LOCAL, OFF),
    ),
)

# As in `wc_core.ledger.configuration.keys`.
FORMER = (
    Key("meaning.enabled", SWITCH, "", field="by_meaning"),
    Key("run.minutes", NUMBER, "", field="run_minutes", least=1, most=RUN_MINUTES),
    Key("wake.per_hour", NUMBER, "", field="wakes_per_hour", most=WAKES_PER_HOUR),
)


class Preferences(NamedTuple):
    """``left_out`` are the repositories that are not in the inbox; ``shows_elsewhere``
    if the status line counts it. ``notify_commands`` are run for each notification, and
    may be `DESKTOP`. ``wake_from`` names those whose balls wake agents if they came
    with the branch of the threads, ``wakes_per_hour`` how often.
    ``run_from`` names those whose balls `wc run` starts agents for, ``run_minutes`` is
    how long one run may take, and ``run_commands`` have the commands of agents.
    ``land_by`` names those whose approvals from elsewhere count for landing here.
    ``summaries_endpoint`` is the server that summarises entries.
    ``by_meaning`` if searches also use meaning; ``meaning_endpoint`` is the server that
    makes vectors, empty for this machine.
    ``fields`` are the tables of the file, ``ignored`` the keys in it that this version
    does not know.

    ``problem`` is why it cannot be used; then there are no preferences.
    """

    fields: Mapping[str, Any] = MappingProxyType({})
    ignored: tuple[str, ...] = ()
    problem: str = ""
    left_out: tuple[str, ...] = ()
    shows_elsewhere: bool = False
    notify_commands: tuple[str, ...] = ()
    wake_from: tuple[str, ...] = ("known",)
    wakes_per_hour: int = WAKES_PER_HOUR
    run_from: tuple[str, ...] = ("own",)
    land_by: tuple[str, ...] = ()
    run_minutes: int = RUN_MINUTES
    run_commands: Mapping[str, tuple[str, ...]] = MappingProxyType({})
    summaries_endpoint: ModelServer = NO_SERVER
    by_meaning: bool = True
    meaning_endpoint: ModelServer = NO_SERVER

    @property
    def former_targets(self) -> tuple[str, ...]:
        """The targets of notifications that an older version had."""
        texts = dict(self.fields.get("notify", {})).get("targets", ())
        values = [texts] if isinstance(texts, str) else texts
        return tuple(map(str, values)) if isinstance(values, list) else ()


NO_PREFERENCES = Preferences()


def path_of(env: Mapping[str, str]) -> str:
    """The file of the preferences; empty if there is no home folder."""
    home = env.get("HOME", "")
    folder = env.get("XDG_CONFIG_HOME", "")
    if not folder.startswith("/"):
        folder = f"{home}/.config" if home else ""
    return f"{folder}/watercooler/config.toml" if folder else ""


def load(env: Mapping[str, str]) -> Preferences:
    """Read the preferences of the user who runs this process. A variable can switch off
    searches by meaning, for one command or one machine."""
    loaded = _loaded(env)
    if variables.keeps_quiet(env):
        loaded = loaded._replace(
            summaries_endpoint=NO_SERVER, meaning_endpoint=NO_SERVER, by_meaning=False
        )
    if env.get(MEANING_VARIABLE, "") == OFF:
        return loaded._replace(by_meaning=False)
    return loaded


def _loaded(env: Mapping[str, str]) -> Preferences:
    path = path_of(env)
    if not path or not os.path.exists(path):
        return NO_PREFERENCES
    import tomllib  # 8 ms, and most people have no such file

    try:
        data = read_plain(os.path.realpath(path), "")
        fields = tomllib.loads((data or b"").decode())
        return _parsed(fields)
    except (OSError, ValueError, RecursionError) as error:
        return Preferences(problem=f"{path} cannot be used: {error}")


def _parsed(fields: Mapping[str, Any]) -> Preferences:
    values: dict[str, Any] = {}
    ignored = []
    for table, names in fields.items():
        if table not in {key.parts[0] for key in KEYS}:
            ignored.append(table)
            continue
        if not isinstance(names, dict):
            raise ValueError(f"[{table}] is not a table")  # noqa: TRY004 - of a file
        for name, value in names.items():
            key = find((table, name), KEYS)
            if key is None or (key.is_open and not isinstance(value, str | list)):
                # A number at an open key, as in ``run``, is another version's key.
                ignored.append(f"{table}.{name}")
                continue
            typed = checked(key, value)
            if key.is_open:
                values.setdefault(key.field, {})[name] = typed
            else:
                values[key.field] = typed
    for key in FORMER:
        table, name = key.parts
        with suppress(ValueOfKeyError):
            value = checked(key, fields.get(table, {}).get(name))
            values[key.field] = value
    server = values.get("meaning_endpoint", NO_SERVER)
    if server.address in {LOCAL, OFF}:
        values["meaning_endpoint"] = NO_SERVER
        if server.address == OFF:
            values["by_meaning"] = False
    return Preferences(fields=fields, ignored=tuple(ignored), **values)
