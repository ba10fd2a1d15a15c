"""Settings in the JSON files of older stores: ``config.json`` and ``agents.json``.

::

    {"counterpart": "Claude"}                        of everyone
    {"counterpart": {"Codex": ["Claude", "Cursor"]}} of each, or "counterparts"
    {"topics": {"auth": {"counterpart": "Cursor"}}}  in one thread, either form
    {"canonical": {"cc": "Claude Code"}}             or "aliases"
    {"agents": {"cc": {"name": "Claude Code", "counterpart": "codex"}}}
"""

from __future__ import annotations

from wc_core.base.values import NamedTuple
from wc_core.ledger.configuration.keys import EVERYONE, is_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any


class OlderSettings(NamedTuple):
    """The settings in a file. ``counterparts`` are lists of names by name, those of a
    thread in ``topics``. ``ignored`` are the keys, with those above them, that set
    nothing."""

    aliases: dict[str, str]
    counterparts: dict[str, list[str]]
    topics: dict[str, dict[str, list[str]]]
    ignored: list[str]


def read(fields: Mapping[str, Any]) -> OlderSettings:
    """The settings in the object of a file.

    Raises ValueError for a counterpart that is neither a name nor a list of names.
    """
    settings = OlderSettings({}, {}, {}, [])
    for key, value in fields.items():
        match key, value:
            case "canonical" | "aliases", dict():
                _add_aliases(settings, key, value)
            case "counterpart" | "counterparts", _:
                settings.counterparts.update(_counterparts(key, value))
            case "topics", dict():
                for topic, table in value.items():
                    _add_topic(settings, f"{key}.{topic}", topic, table)
            case "agents", dict():
                for name, table in value.items():
                    _add_agent(settings, f"{key}.{name}", name, table)
            case _:
                settings.ignored.append(key)
    return settings


def _add_aliases(settings: OlderSettings, path: str, table: dict[str, Any]) -> None:
    for alias, name in table.items():
        if is_name(name):
            settings.aliases[alias] = name
        else:
            settings.ignored.append(f"{path}.{alias}")


def _add_topic(settings: OlderSettings, path: str, topic: str, table: Any) -> None:
    """Add the counterparts in one thread: a name, or an object with them."""
    counterparts = settings.topics.setdefault(topic, {})
    if not isinstance(table, dict):
        counterparts.update(_counterparts(path, table))
        return
    for key, value in table.items():
        if key in {"counterpart", "counterparts"}:
            counterparts.update(_counterparts(f"{path}.{key}", value))
        else:
            settings.ignored.append(f"{path}.{key}")


def _add_agent(settings: OlderSettings, path: str, name: str, table: Any) -> None:
    """Add an agent's alias, and its counterpart."""
    if not isinstance(table, dict):
        settings.ignored.append(path)
        return
    for key, value in table.items():
        if key == "name" and is_name(value):
            settings.aliases[name] = value
        elif key == "counterpart":
            settings.counterparts[name] = _names(f"{path}.{key}", value)
        else:
            settings.ignored.append(f"{path}.{key}")


def _counterparts(path: str, value: Any) -> dict[str, list[str]]:
    """The counterparts by name; a single name or list is everyone's."""
    if not isinstance(value, dict):
        return {EVERYONE: _names(path, value)}
    return {name: _names(f"{path}.{name}", names) for name, names in value.items()}


def _names(path: str, value: Any) -> list[str]:
    """A name, or a list of names, as a list. Raises ValueError for everything else."""
    names = value if isinstance(value, list) else [value]
    if not all(map(is_name, names)):
        raise ValueError(f"{path} is neither a name nor a list of names")
    return names
