"""Settings: the store's ``config.toml``, files of older stores, environment.

::

    [ball]
    enforce = "warn"          # off | warn | refuse
    bounces = 6               # passes between the same two until wc says so; 0: never
    [counterparts]
    Codex = "Claude Code"     # or a list: the first who is not the author
    "*" = "Claude Code"       # of everyone else
    [topics.auth.counterparts]
    Codex = "Cursor"
    [identity]
    seats = "auto"            # auto | all: also the main worktree | off
    [sync]
    push = "auto"             # auto (after a write, in the background) | off
    fetch_every = 300         # seconds between fetches in the background; 0: none
    limit = 30                # longest time, in seconds, to wait for a remote
    [aliases]
    cc = "Claude Code"
    [git]
    sign = true               # sign the store's commits, as git is configured
    [claims]
    ttl = 900                 # seconds that a claim lasts without a sign of life
    neighbor = "advise"       # advise | readonly | block: somebody edits a neighbour
    verify = "none"           # none | signed: see docs/claims.md
    guard = "advise"          # off | notice | advise | refuse: see docs/guards.md
    guard_failure = "open"    # open | block: what happens if a guard fails
    [observe]
    watch = "auto"            # auto | on | off: how the server notices changes

Older stores' ``config.json`` and ``agents.json`` are read as well, see
`older.jsonsettings`; ``config.toml`` wins.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeAlias

from wc_core.files import read_plain
from wc_core.layout import folded, nearest_slug
from wc_core.names import SPELLINGS, Directory, fold
from wc_core.text import whole_number
from wc_core.threads.codec import Damage
from wc_core.threads.jsontext import loads
from wc_core.values import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    Counterparts: TypeAlias = Mapping[str, tuple[str, ...]]

# In a table of counterparts: whoever has none of their own.
EVERYONE = "*"
ENFORCE = ("off", "warn", "refuse")
SEATS = ("auto", "all", "off")
SYNC = ("background", "inline", "off")
PUSH = ("auto", "off")
WATCH = ("auto", "on", "off")
NEIGHBOR = ("advise", "readonly", "block")
OFF, NOTICE, ADVISE, REFUSE = "off", "notice", "advise", "refuse"
GUARD = (OFF, NOTICE, ADVISE, REFUSE)
GUARD_FAILURE = ("open", "block")
SIGNED = "signed"
VERIFY = ("none", SIGNED)

_BOUNCES = 6
_MAX_BOUNCES = 1000
_FETCH_EVERY, _LIMIT = 300, 30
_CLAIM_TTL, _MIN_TTL = 900, 10
_MAX_SECONDS = 7 * 24 * 3600
# More than enough; a greater number than the maximum counts as the maximum.
_MAX_DIGITS = 100
_SECONDS = {"fetch_every": "WATERCOOLER_FETCH_EVERY", "limit": "WATERCOOLER_LIMIT"}

# The tables of config.toml with their keys; none where any key may be.
_KNOWN: dict[str, tuple[str, ...]] = {
    "ball": ("enforce", "bounces"),
    "counterparts": (),
    "topics": (),
    "identity": ("seats",),
    "aliases": (),
    "sync": ("push", "fetch_every", "limit"),
    "git": ("sign",),
    "claims": ("ttl", "verify", "neighbor", "guard", "guard_failure"),
    "observe": ("watch",),
}

# Later files win.
_FILES = (
    *("agents.json", "threads/agents.json", "config.json", "threads/config.json"),
    "config.toml",
)


class Settings(NamedTuple):
    """The settings in force. Keys of ``counterparts`` are folded names, or ``*`` for
    everyone else, those of ``topic_counterparts`` folded topics. ``ignored`` are keys,
    with their files, that set nothing.

    ``damage`` is set if a file could not be used. Then readers go on with the
    defaults, and writers must refuse.
    """

    enforce: str = "warn"
    bounces: int = _BOUNCES
    seats: str = "auto"
    counterparts: Counterparts = MappingProxyType({})
    topic_counterparts: Mapping[str, Counterparts] = MappingProxyType({})
    directory: Directory = Directory()
    sync: str = "background"
    push: bool = True
    fetch_every: int = _FETCH_EVERY
    limit: int = _LIMIT
    sign: bool = False
    watch: str = "auto"
    claim_ttl: int = _CLAIM_TTL
    neighbor: str = "advise"
    verify: str = "none"
    guard: str = ADVISE
    guard_failure: str = "open"
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
    for name in _FILES:
        try:
            data = read_plain(f"{root}/{name}", root)
            if data is not None:
                add = _with_toml if name.endswith(".toml") else _with_json
                settings = add(settings, data, name)
        except (OSError, ValueError, RecursionError, _ShapeError) as error:
            # A broken file leaves the others in force.
            message = f"the settings cannot be used: {error}"
            damage = Damage(name, 0, "shape", message, lost=False)
            settings = settings._replace(damage=damage)
    return _with_env(settings, env)


class _ShapeError(Exception):
    """A setting has an invalid value."""


def _with_env(settings: Settings, env: Mapping[str, str]) -> Settings:
    """The settings with those of the environment; an invalid value is ignored."""
    changes: dict[str, Any] = {}
    if (sync := env.get("WATERCOOLER_SYNC", "")) in SYNC:
        changes["sync"] = sync
    if (push := env.get("WATERCOOLER_PUSH", "")) in PUSH:
        changes["push"] = push == "auto"
    if (watch := env.get("WATERCOOLER_WATCH", "")) in WATCH:
        changes["watch"] = watch
    if (guard := env.get("WATERCOOLER_GUARD", "")) in GUARD:
        changes["guard"] = guard
    for name, variable in _SECONDS.items():
        seconds = whole_number(env.get(variable, ""), _MAX_DIGITS)
        if seconds is not None:
            changes[name] = min(seconds, _MAX_SECONDS)
    return settings._replace(**changes)


def _with_json(settings: Settings, data: bytes, name: str) -> Settings:
    """The settings with those of the file ``name`` of an older store."""
    from wc_core.threads.older import jsonsettings  # 1 ms, only in older stores

    fields = loads(data)
    if not isinstance(fields, dict):
        raise _ShapeError("not an object")
    older = jsonsettings.read(fields)
    # An older file may spell a platform in its own way. Our spelling stays canonical,
    # so that both mean the same agent.
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


def is_name(value: Any) -> bool:
    """Whether a value in a file can be somebody's name."""
    return isinstance(value, str) and value.strip() != ""


def _counterparts(table: Mapping[str, Any]) -> Counterparts:
    """The counterparts of each name in a table, one or a list of them."""
    counterparts = {}
    for name, value in table.items():
        chain = [value] if isinstance(value, str) else value
        if not isinstance(chain, list) or not all(isinstance(x, str) for x in chain):
            raise _ShapeError(f"the counterpart of {name} is neither name nor list")
        counterparts[fold(name)] = tuple(chain)
    return counterparts


def _with_toml(settings: Settings, data: bytes, name: str) -> Settings:
    """The settings with those of the file ``name``, which is ``config.toml``."""
    import tomllib  # 8 ms, and most stores have no such file

    fields = tomllib.loads(data.decode())
    ball, identity = _table(fields, "ball"), _table(fields, "identity")
    topics, sync = _table(fields, "topics"), _table(fields, "sync")
    claims = _table(fields, "claims")
    names = _table(fields, "aliases").items()
    aliases = {fold(k): v for k, v in names if is_name(v)}
    return settings._replace(
        enforce=_choice(ball, "enforce", ENFORCE, settings.enforce),
        bounces=_bounces(ball),
        seats=_choice(identity, "seats", SEATS, "auto"),
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
        push=_choice(sync, "push", PUSH, "auto") == "auto",
        fetch_every=_seconds(sync, "fetch_every", _FETCH_EVERY),
        limit=_seconds(sync, "limit", _LIMIT),
        sign=_switch(_table(fields, "git"), "sign"),
        watch=_choice(_table(fields, "observe"), "watch", WATCH, "auto"),
        claim_ttl=_claim_ttl(claims),
        neighbor=_choice(claims, "neighbor", NEIGHBOR, settings.neighbor),
        verify=_choice(claims, "verify", VERIFY, settings.verify),
        guard=_choice(claims, "guard", GUARD, settings.guard),
        guard_failure=_choice(
            claims, "guard_failure", GUARD_FAILURE, settings.guard_failure
        ),
        ignored=(*settings.ignored, *(f"{name}: {key}" for key in _unknown(fields))),
    )


def _unknown(fields: Mapping[str, Any]) -> Iterator[str]:
    """The keys of ``config.toml`` that are no settings, with the table they are in."""
    for name, table in fields.items():
        known = _KNOWN.get(name)
        if known is None:
            yield name
        elif name == "topics":
            for topic in table:
                keys = table[topic].keys() - {"counterparts"}
                yield from (f"topics.{topic}.{key}" for key in sorted(keys))
        elif name == "aliases":
            yield from (f"{name}.{key}" for key in table if not is_name(table[key]))
        elif known:
            yield from (f"{name}.{key}" for key in table if key not in known)


def _bounces(ball: Mapping[str, Any]) -> int:
    value = ball.get("bounces", _BOUNCES)
    if type(value) is not int or not 0 <= value <= _MAX_BOUNCES:
        raise _ShapeError(f"bounces = {value!r} is not a number up to {_MAX_BOUNCES}")
    return value


def _seconds(table: Mapping[str, Any], key: str, default: int) -> int:
    value = table.get(key, default)
    if type(value) is not int or not 0 <= value <= _MAX_SECONDS:
        raise _ShapeError(f"{key} = {value!r} is not a number of seconds")
    return value


def _claim_ttl(table: Mapping[str, Any]) -> int:
    value = _seconds(table, "ttl", _CLAIM_TTL)
    if value < _MIN_TTL:
        raise _ShapeError(f"ttl = {value!r} is less than {_MIN_TTL} seconds")
    return value


def _switch(table: Mapping[str, Any], key: str) -> bool:
    value = table.get(key, False)
    if not isinstance(value, bool):
        raise _ShapeError(f"{key} = {value!r} is neither true nor false")
    return value


def _table(fields: Mapping[str, Any], name: str) -> dict[str, Any]:
    value = fields.get(name, {})
    if not isinstance(value, dict):
        raise _ShapeError(f"[{name}] is not a table")
    return value


def _choice(
    table: Mapping[str, Any], key: str, allowed: tuple[str, ...], default: str
) -> str:
    value = table.get(key, default)
    if value not in allowed:
        raise _ShapeError(f"{key} = {value!r} is not one of {', '.join(allowed)}")
    return str(value)
