"""The current values of settings, and where each comes from."""

from __future__ import annotations

from wc_core.base.names import fold
from wc_core.base.values import NamedTuple
from wc_core.ledger.configuration import keys
from wc_core.ledger.threads import settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from wc_core.ledger.configuration.keys import Key

DEFAULT, FILE = "default", "file"


class SettingValue(NamedTuple):
    """The current value of a key. ``origin`` is `DEFAULT` or `FILE`; ``source`` names
    the file."""

    parts: tuple[str, ...]
    key: Key
    value: Any
    origin: str = DEFAULT
    source: str = ""

    @property
    def name(self) -> str:
        """The key as users type it."""
        return ".".join(_typed(part) for part in self.parts)

    @property
    def place(self) -> str:
        """The origin of the value, in words."""
        return self.source or self.origin

    def to_json(self) -> dict[str, Any]:
        """The value with its key, as a JSON object."""
        value = list(self.value) if isinstance(self.value, tuple) else self.value
        return {
            "key": self.name,
            "value": value,
            "origin": self.origin,
            "source": self.source,
            "default": self.key.default,
            "values": self.key.values,
            "help": self.key.help,
        }


def _typed(part: str) -> str:
    return f'"{part}"' if not part or set(part) & set(".\"' ") else part


def in_force(root: str) -> list[SettingValue]:
    """The current value of each key in the store at ``root``, in the order of the
    table; for keys with any word in their name, those that are set."""
    values: dict[tuple[str, ...], SettingValue] = {}
    for key in keys.KEYS:
        if not key.is_open:
            values[key.parts] = SettingValue(key.parts, key, key.default)
    for file, loaded, fields in settings.layers(root):
        written = _written(fields) if fields else _of_older_file(loaded)
        for parts, value in written:
            declared = keys.find(parts)
            if declared is not None:
                path = tuple(map(fold, parts))
                values[path] = SettingValue(parts, declared, value, FILE, file)
    order = {key: number for number, key in enumerate(keys.KEYS)}
    return sorted(values.values(), key=lambda item: (order[item.key], item.parts))


def _written(
    fields: Mapping[str, Any], above: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], Any]]:
    """The values in tables, each with its path."""
    for name, value in fields.items():
        path = (*above, name)
        if isinstance(value, dict):
            yield from _written(value, path)
        else:
            yield path, value


def _of_older_file(
    loaded: settings.Settings,
) -> Iterator[tuple[tuple[str, ...], Any]]:
    """The values that an older file sets; names are folded."""
    for name, chain in loaded.counterparts.items():
        yield ("counterparts", name), list(chain)
    for topic, table in loaded.topic_counterparts.items():
        for name, chain in table.items():
            yield ("topics", topic, "counterparts", name), list(chain)
    for alias, name in loaded.directory.aliases.items():
        if settings.Settings().directory.aliases.get(alias) != name:
            yield ("aliases", alias), name
