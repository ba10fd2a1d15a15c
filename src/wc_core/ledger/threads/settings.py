"""Settings: the store's ``config.toml``, files of older stores, environment.

`wc_core.ledger.configuration.keys` has the keys with their values. Older stores'
``config.json`` and ``agents.json`` are read as well, see `older.jsonsettings`;
``config.toml`` wins.
"""

from __future__ import annotations

from types import MappingProxyType

from wc_core.base import sandboxes, variables
from wc_core.base.errors import Damage
from wc_core.base.files import OpenFolders, read_plain
from wc_core.base.layout import folded, nearest_slug
from wc_core.base.lean.contextlib import suppress
from wc_core.base.names import SPELLINGS, Directory, fold
from wc_core.base.values import NamedTuple
from wc_core.ledger.configuration import keys
from wc_core.ledger.configuration.keys import (
    ADVISE,
    NO_RULES,
    RULES,
    Rules,
    ValueOfKeyError,
    is_name,
)
from wc_core.ledger.threads.jsontext import loads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from typing import Any, TypeAlias

    from wc_core.ledger.configuration.keys import Key

    Counterparts: TypeAlias = Mapping[str, tuple[str, ...]]

SYNC = ("background", "inline", "off")

# Larger settings are damage: any number of keys would fit into more.
_MAX_BYTES = 1 << 20

# Later files win.
FILES = (
    *("agents.json", "threads/agents.json", "config.json", "threads/config.json"),
    "config.toml",
)


class Settings(NamedTuple):
    """The current settings. Keys of ``counterparts`` are folded names, or ``*`` for
    everyone else, those of ``topic_counterparts`` folded topics. ``harvest`` is false
    if an older version's ``carry.harvest`` says so. ``ignored`` are keys, with their
    files, that set nothing.

    ``damage`` is set if a file could not be used. Then readers continue with the
    defaults, and writers must refuse.
    """

    enforce: str = "warn"
    bounces: int = keys.BOUNCES
    seats: str = "auto"
    counterparts: Counterparts = MappingProxyType({})
    topic_counterparts: Mapping[str, Counterparts] = MappingProxyType({})
    directory: Directory = Directory()
    sync: str = "background"
    push: bool = True
    fetch_every: int = 300
    carry: str = keys.AUTO
    harvest: bool = True
    agents_branches: tuple[str, ...] = keys.AGENTS_BRANCHES
    sign: bool = False
    land_needs: str = "approved"
    land_method: str = "merge"
    land_check: str = ""
    neighbor: str = "advise"
    guard: str = ADVISE
    guard_failure: str = "open"
    rules: Rules = NO_RULES
    ignored: tuple[str, ...] = ()
    damage: Damage | None = None

    def counterparts_in(self, names: Iterable[str]) -> list[Counterparts]:
        """The counterparts in a thread with these names, by precedence: those of each
        name, then those in all threads."""
        topics = (self.topic_counterparts.get(folded(name), {}) for name in names)
        return [*topics, self.counterparts]


def load(root: str, env: Mapping[str, str]) -> Settings:
    """Read the settings of the store at ``root``, which need not exist."""
    settings = Settings()
    with OpenFolders(root) as folders:
        for name in FILES:
            try:
                data = folders.read(f"{root}/{name}", _MAX_BYTES)
                if data is not None:
                    add = _with_toml if name.endswith(".toml") else _with_json
                    settings = add(settings, data, name)
            except UNUSABLE as error:
                # A broken file does not affect the others.
                message = f"the settings cannot be used: {error}"
                damage = Damage(name, 0, "shape", message, lost=False)
                settings = settings._replace(damage=damage)
    return _with_env(settings, env)


def layers(root: str) -> Iterator[tuple[str, Settings, dict[str, Any]]]:
    """Each usable file of settings in the store at ``root``: its name, the settings
    that it makes alone, and, for ``config.toml``, its tables."""
    for name in FILES:
        try:
            data = read_plain(f"{root}/{name}", root, _MAX_BYTES)
            if data is None:
                continue
            is_toml = name.endswith(".toml")
            fields = _toml_fields(data) if is_toml else {}
            add = _with_toml if is_toml else _with_json
            yield name, add(Settings(), data, name), fields
        except UNUSABLE:
            continue  # reported by `load`


class _ShapeError(Exception):
    """A setting has an invalid value."""


# The errors raised for a file of settings that cannot be used.
UNUSABLE = (OSError, ValueError, RecursionError, _ShapeError)


def _with_env(settings: Settings, env: Mapping[str, str]) -> Settings:
    """The settings with those of the environment; an invalid value is ignored."""
    changes: dict[str, Any] = {}
    if (sync := env.get("WATERCOOLER_SYNC", "")) in SYNC:
        changes["sync"] = sync
    if variables.keeps_quiet(env):
        changes |= {"push": False, "fetch_every": 0, "carry": keys.OFF}
    if keys.REFUSE in variables.unknown(env).values():
        changes["guard"] = keys.REFUSE
    if sandboxes.current(env) is not None:
        changes["directory"] = settings.directory._replace(in_cloud=True)
    return settings._replace(**changes)


def _field_value(key: Key, value: Any) -> Any:
    """The value of a key in the form of `Settings`."""
    return value == "auto" if key.field == "push" else value


def _with_json(settings: Settings, data: bytes, name: str) -> Settings:
    """The settings with those of the file ``name`` of an older store."""
    from wc_core.ledger.threads.older import jsonsettings  # 1 ms, only in older stores

    fields = loads(data)
    if not isinstance(fields, dict):
        raise _ShapeError("not an object")
    older = jsonsettings.read(fields)
    # An older file may have its own spelling of a platform. Our spelling stays
    # canonical, so that both mean the same agent.
    aliases = {fold(k): SPELLINGS.get(fold(v), v) for k, v in older.aliases.items()}
    topics = dict(settings.topic_counterparts)
    for written, table in older.topics.items():
        topic = _topic(written)
        topics[topic] = {**topics.get(topic, {}), **_counterparts(table)}
    return settings._replace(
        directory=Directory({**settings.directory.aliases, **aliases}),
        counterparts={**settings.counterparts, **_counterparts(older.counterparts)},
        topic_counterparts=topics,
        ignored=(*settings.ignored, *(f"{name}: {key}" for key in older.ignored)),
    )


def _topic(written: str) -> str:
    """The topic that a file calls ``written``, in the spelling of new topics."""
    return nearest_slug(written) or folded(written)


def _counterparts(table: Mapping[str, Any]) -> Counterparts:
    """The counterparts of each name in a table, one or a list of them."""
    counterparts = {}
    for name, value in table.items():
        chain = [value] if isinstance(value, str) else value
        if not isinstance(chain, list) or not all(isinstance(x, str) for x in chain):
            raise _ShapeError(f"the counterpart of {name} is neither name nor list")
        counterparts[fold(name)] = tuple(chain)
    return counterparts


def _toml_fields(data: bytes) -> dict[str, Any]:
    import tomllib  # 8 ms, and most stores have no such file

    return tomllib.loads(data.decode())


def _with_toml(settings: Settings, data: bytes, name: str) -> Settings:
    """The settings with those of the file ``name``, which is ``config.toml``."""
    fields = _toml_fields(data)
    plain = {field: value for table, field, value in _values(fields) if table != RULES}
    rules = {field: value for table, field, value in _values(fields) if table == RULES}
    topics = _table(fields, "topics")
    names = _table(fields, "aliases").items()
    aliases = {fold(k): v for k, v in names if is_name(v)}
    harvest = _table(fields, "carry").get("harvest", keys.AUTO) == keys.AUTO
    unknown = (key for key in _unknown(fields) if harvest or key != "carry.harvest")
    return settings._replace(
        counterparts={
            **settings.counterparts,
            **_counterparts(_table(fields, "counterparts")),
        },
        topic_counterparts={
            **settings.topic_counterparts,
            **{
                _topic(key): _counterparts(_table(_table(topics, key), "counterparts"))
                for key in topics
            },
        },
        directory=Directory({**settings.directory.aliases, **aliases}),
        harvest=harvest,
        ignored=(*settings.ignored, *(f"{name}: {key}" for key in unknown)),
        rules=Rules(**rules),
        **plain,
    )


def _values(fields: Mapping[str, Any]) -> Iterator[tuple[str, str, Any]]:
    """The fields of `Settings` and `Rules` that have a key, if they are set, each with
    its table."""
    for key in keys.KEYS:
        if not key.field:
            continue
        table, name = key.parts
        value = _table(fields, table).get(name)
        if value is not None:
            try:
                yield table, key.field, _field_value(key, keys.checked(key, value))
            except ValueOfKeyError as error:
                raise _ShapeError(str(error)) from error
    for key in keys.FORMER:
        table, name = key.parts
        with suppress(ValueOfKeyError):
            value = keys.checked(key, _table(fields, table).get(name))
            yield table, key.field, value


def _known_keys() -> dict[str, set[str]]:
    """The tables of ``config.toml`` with their keys; none if any key is allowed."""
    known: dict[str, set[str]] = {
        name: set() for name in ("counterparts", "topics", "aliases")
    }
    for key in keys.KEYS:
        if not key.is_open:
            known.setdefault(key.parts[0], set()).add(key.parts[-1])
    return known


def _unknown(fields: Mapping[str, Any]) -> Iterator[str]:
    """The keys of ``config.toml`` that are not settings, with their tables."""
    known = _known_keys()
    for name, table in fields.items():
        keys_of_table = known.get(name)
        if keys_of_table is None:
            yield name
        elif name == "topics":
            for topic in table:
                keys = table[topic].keys() - {"counterparts"}
                yield from (f"topics.{topic}.{key}" for key in sorted(keys))
        elif name == "aliases":
            yield from (f"{name}.{key}" for key in table if not is_name(table[key]))
        elif keys_of_table:
            yield from (f"{name}.{key}" for key in table if key not in keys_of_table)


def _table(fields: Mapping[str, Any], name: str) -> dict[str, Any]:
    value = fields.get(name, {})
    if not isinstance(value, dict):
        raise _ShapeError(f"[{name}] is not a table")
    return value
