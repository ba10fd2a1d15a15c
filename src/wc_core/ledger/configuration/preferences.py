"""A person's own preferences, ``~/.config/watercooler/config.toml``.

They rank below the settings and the rules of a repository: none of them changes what is
written, only what this person is shown and when they are called.
"""

from __future__ import annotations

import os
from types import MappingProxyType

from wc_core.base.files import read_plain
from wc_core.base.values import NamedTuple
from wc_core.ledger.configuration import keys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

VARIABLE = "WATERCOOLER_PREFERENCES"
MEANING_VARIABLE = "WATERCOOLER_MEANING"


class Preferences(NamedTuple):
    """``defaults`` are options by command. ``left_out`` are the repositories that are
    not in the inbox; ``shows_elsewhere`` if the status line counts it. ``targets`` are
    texts that name targets of notifications, ``notify_command`` is run for each.
    ``wake_from`` names those whose balls wake agents if they came with the branch of
    the threads, ``wake_carriers`` the other branches that may bring such balls,
    ``wakes_per_hour`` how often.
    ``run_from`` names those whose balls `wc run` starts agents for, ``run_minutes`` is
    how long one run may take, ``run_worktrees`` where it makes worktrees, and
    ``run_commands`` have the commands of agents.
    ``land_by`` names those whose approvals from elsewhere count for landing here.
    ``summaries_endpoint`` is the server whose ``summaries_model`` summarises entries.
    ``by_meaning`` if searches also use meaning; ``meaning_endpoint`` is the server
    whose ``meaning_model`` makes vectors with ``meaning_dimensions`` numbers (0: any).
    ``fields`` are the tables of the file, ``ignored`` the keys in it that this version
    does not know.

    ``problem`` is why it cannot be used; then there are no preferences.
    """

    defaults: Mapping[str, tuple[str, ...]] = MappingProxyType({})
    fields: Mapping[str, Any] = MappingProxyType({})
    ignored: tuple[str, ...] = ()
    problem: str = ""
    left_out: tuple[str, ...] = ()
    shows_elsewhere: bool = False
    targets: tuple[str, ...] = ()
    notify_command: str = ""
    wake_from: tuple[str, ...] = ("known",)
    wake_carriers: tuple[str, ...] = ()
    wakes_per_hour: int = 12
    run_from: tuple[str, ...] = ("own",)
    land_by: tuple[str, ...] = ()
    run_minutes: int = 60
    run_worktrees: str = "../{repo}-wt-{topic}"
    run_commands: Mapping[str, tuple[str, ...]] = MappingProxyType({})
    summaries_endpoint: str = ""
    summaries_model: str = ""
    by_meaning: bool = True
    meaning_endpoint: str = ""
    meaning_model: str = ""
    meaning_dimensions: int = 0


NO_PREFERENCES = Preferences()


def path_of(env: Mapping[str, str]) -> str:
    """The file of the preferences; empty if there is no home folder, or if the
    environment disables preferences."""
    home = env.get("HOME", "")
    folder = env.get("XDG_CONFIG_HOME", "")
    if not folder.startswith("/"):
        folder = f"{home}/.config" if home else ""
    is_off = env.get(VARIABLE, "") == keys.OFF
    return f"{folder}/watercooler/config.toml" if folder and not is_off else ""


def load(env: Mapping[str, str]) -> Preferences:
    """Read the preferences of the user who runs this process. A variable can switch off
    searches by meaning, for one command or one machine."""
    loaded = _loaded(env)
    if env.get(MEANING_VARIABLE, "") == keys.OFF:
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
    # 0.2 ms, and most people have no such file.
    from wc_core.ledger.configuration import personalkeys

    values: dict[str, Any] = {}
    ignored = []
    for table, names in fields.items():
        if table not in {key.parts[0] for key in personalkeys.KEYS}:
            ignored.append(table)
            continue
        if not isinstance(names, dict):
            raise ValueError(f"[{table}] is not a table")  # noqa: TRY004 - of a file
        for name, value in names.items():
            key = keys.find((table, name), personalkeys.KEYS)
            if key is None or (key.is_open and not isinstance(value, str | list)):
                # A number at an open key, as in ``run``, is another version's key.
                ignored.append(f"{table}.{name}")
                continue
            checked = keys.checked(key, value)
            if key.is_open:
                values.setdefault(key.field, {})[name] = checked
            else:
                values[key.field] = checked
    return Preferences(fields=fields, ignored=tuple(ignored), **values)
