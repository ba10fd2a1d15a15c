"""The table of a store's keys, checking a value for any key, and the rules that are
among them.

`wc_core.ledger.configuration.preferences` has the table of personal ones.
"""

from __future__ import annotations

from wc_core.base.lean import re
from wc_core.base.values import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

# Words for who may close a thread, besides names.
CLOSER_ASKER, CLOSER_HOLDER = "asker", "holder"
NO_LINK, BRANCH_LINK, PR_LINK, ANY_LINK = "none", "branch", "pr", "any"
CLOSE_LINKS = (NO_LINK, BRANCH_LINK, PR_LINK, ANY_LINK)


class Rules(NamedTuple):
    """Requirements for threads and entries. Empty, 0 and "none" require nothing."""

    title: tuple[str, ...] = ()
    close_kinds: tuple[str, ...] = ()
    close_link: str = NO_LINK
    closers: tuple[str, ...] = ()
    balls: int = 0


NO_RULES = Rules()


CHOICE, NUMBER, SWITCH = "choice", "number", "switch"
NAME, NAMES, TEXTS, CHOICES = "name", "names", "texts", "choices"
SERVER = "server"
COMMAND = "command"

OFF, NOTICE, ADVISE, REFUSE = "off", "notice", "advise", "refuse"
ENFORCE = (OFF, "warn", REFUSE)
SEATS = ("auto", "all", OFF)
PUSH = ("auto", OFF)
NEIGHBOR = (ADVISE, "readonly", "block")
ASK, AUTO, LOCAL = "ask", "auto", "local"
CARRY = (OFF, ASK, AUTO)
# The branches of agents in the cloud, as their documentation names them.
AGENTS_BRANCHES = ("claude/*", "codex/*", "copilot/*", "cursor/*", "jules/*")
# What a thread needs before its branch can land, and how branches land.
LAND_NEEDS = ("approved", "closed", "nothing")
LAND_METHODS = ("merge", "rebase", "squash")
GUARD = (OFF, NOTICE, ADVISE, REFUSE)
GUARD_FAILURE = ("open", "block")
# The same as in `wc_core.ledger.threads.model`, which a test compares.
KINDS = ("note", "decision", "warning", "research", "question", "pivot")

# The table of `Rules`.
RULES = "rules"

# How long a run of an agent may take, and how often an agent is woken.
RUN_MINUTES, WAKES_PER_HOUR = 60, 12

# Passes between the same two before wc warns, and starts and wakes nobody.
BOUNCES = 6

# In a table of counterparts: everyone without their own.
EVERYONE = "*"

MAX_SECONDS = 7 * 24 * 3600
_MAX_BALLS = 1000
_MAX_TEXTS = 50


class ModelServer(NamedTuple):
    """A server at an ``address``, and the ``model`` to ask it for (empty: none)."""

    address: str = ""
    model: str = ""


class ValueOfKeyError(ValueError):
    """A value that a key does not accept; the message is the reason."""


class Key(NamedTuple):
    """A key of settings, as ``table.key``. A part in capitals stands for any word.

    ``field`` is its field in `Settings`, or in `Rules`; empty if a whole table makes
    one. ``former`` are the ends of names that an open key does not stand for: those of
    keys that went.
    """

    name: str
    kind: str
    help: str
    default: Any = None
    field: str = ""
    allowed: tuple[str, ...] = ()
    least: int = 0
    most: int = 0
    former: tuple[str, ...] = ()

    @property
    def parts(self) -> tuple[str, ...]:
        """The tables, and the key in the last of them."""
        return tuple(self.name.split("."))

    @property
    def is_open(self) -> bool:
        """Whether a part of its name stands for any word."""
        return any(part.isupper() for part in self.parts)

    @property
    def values(self) -> str:
        """The values that it accepts, in words."""
        if self.kind == SERVER:
            return ", or ".join((*self.allowed, _KINDS[SERVER]))
        if self.allowed:
            several = "one or several of " if self.kind == CHOICES else ""
            return several + ", ".join(self.allowed)
        if self.kind == NUMBER:
            return f"{self.least} to {self.most}"
        return _KINDS[self.kind]


_KINDS = {
    SWITCH: "true, false",
    NAME: "a name",
    NAMES: "a name, or several",
    TEXTS: "one text, or several",
    SERVER: "an address with http or https, then the name of a model",
    COMMAND: "a command for sh",
}

KEYS = (
    Key(
        "ball.enforce",
        CHOICE,
        "What happens to a move by someone who does not have the ball.",
        "warn",
        field="enforce",
        allowed=ENFORCE,
    ),
    Key(
        "counterparts.NAME",
        NAMES,
        "Who gets the ball from this name; '*' is everyone else.",
    ),
    Key(
        "topics.TOPIC.counterparts.NAME",
        NAMES,
        "The same, in one thread.",
    ),
    Key(
        "identity.seats",
        CHOICE,
        "Which worktrees are seats; all: the main one, too.",
        "auto",
        field="seats",
        allowed=SEATS,
    ),
    Key("aliases.NAME", NAME, "The name that this spelling stands for."),
    Key(
        "sync.push",
        CHOICE,
        "Whether a write is pushed in the background.",
        "auto",
        field="push",
        allowed=PUSH,
    ),
    Key(
        "sync.fetch_every",
        NUMBER,
        "Seconds until a command fetches in the background; 0: never.",
        300,
        field="fetch_every",
        most=MAX_SECONDS,
    ),
    Key(
        "carry.mode",
        CHOICE,
        "Whether entries travel with agents' branches; ask: by wc sync --carry.",
        AUTO,
        field="carry",
        allowed=CARRY,
    ),
    Key(
        "carry.from",
        TEXTS,
        "The agents' branches, as claude/*.",
        AGENTS_BRANCHES,
        field="agents_branches",
    ),
    Key(
        "git.sign",
        SWITCH,
        "Whether the store's commits are signed, as git is configured to.",
        default=False,
        field="sign",
    ),
    Key(
        "land.needs",
        CHOICE,
        "What a thread needs before its branch can land.",
        "approved",
        field="land_needs",
        allowed=LAND_NEEDS,
    ),
    Key(
        "land.method",
        CHOICE,
        "How branches land.",
        "merge",
        field="land_method",
        allowed=LAND_METHODS,
    ),
    Key(
        "land.check",
        COMMAND,
        "What must succeed before a branch lands, once you approved it.",
        "",
        field="land_check",
    ),
    Key(
        "claims.guard",
        CHOICE,
        "What happens to edits of other people's claims.",
        ADVISE,
        field="guard",
        allowed=GUARD,
    ),
    Key(
        "claims.guard_failure",
        CHOICE,
        "What happens to an edit if its guard fails.",
        "open",
        field="guard_failure",
        allowed=GUARD_FAILURE,
    ),
    Key(
        "rules.title",
        TEXTS,
        "Patterns such as 'fix: *'; the title of a new thread must match one.",
        field="title",
    ),
    Key(
        "rules.close_kinds",
        CHOICES,
        "A closed thread must have an entry of each of these kinds.",
        field="close_kinds",
        allowed=KINDS,
    ),
    Key(
        "rules.close_link",
        CHOICE,
        "A closed thread must have a branch, a pull request, or either.",
        NO_LINK,
        field="close_link",
        allowed=CLOSE_LINKS,
    ),
    Key(
        "rules.closers",
        NAMES,
        "Who may close a thread: names, or asker, or holder.",
        field="closers",
    ),
    Key(
        "rules.balls",
        NUMBER,
        "Open threads whose ball one name may hold; 0: any number.",
        0,
        field="balls",
        most=_MAX_BALLS,
    ),
)


# Keys that went. In a file, what they restricted is still restricted; values that
# allowed more have no effect.
FORMER = (
    Key("ball.bounces", NUMBER, "", field="bounces", least=1, most=BOUNCES),
    Key("claims.neighbor", CHOICE, "", field="neighbor", allowed=NEIGHBOR),
)

_NONE, _COUNTS = "has no effect", "counts only if it is less than"
_SET = "wc config --global set"
# What doctor says about keys that went.
_WENT = {
    "ball.bounces": f"{_COUNTS} {BOUNCES}, and can be removed",
    "claims.neighbor": "still counts, and can be removed",
    "claims.ttl": f"{_NONE}; for one claim: wc claim FILE --ttl 1h",
    "land.minutes": f"{_NONE}: a check may take an hour",
    "meaning.dimensions": f"{_NONE}: they are the model's",
    "meaning.enabled": f"counts if it is false; instead: {_SET} meaning.endpoint off",
    "meaning.model": f"{_NONE}; instead: {_SET} meaning.endpoint ADDRESS MODEL",
    "observe": f"{_NONE}: the server looks at changes by itself",
    "run.minutes": f"{_COUNTS} {RUN_MINUTES}, and can be removed",
    "run.worktrees": f"{_NONE}: a new worktree is at ../REPOSITORY-wt-TOPIC",
    "summaries.model": f"{_NONE}; instead: {_SET} summaries.endpoint ADDRESS MODEL",
    "sync.limit": f"{_NONE}; for one sync: wc sync --timeout 60",
    **dict.fromkeys(
        ("rules.roles", "rules.types", "rules.close_roles", "rules.close_types"),
        f"{_NONE}; a closed thread can need a kind of entry: rules.close_kinds",
    ),
    **dict.fromkeys(
        ("rules.thread_days", "rules.ball_days"),
        f"{_NONE}; how old threads are: wc list",
    ),
    "carry": "only keeps entries from travelling by themselves in a sandbox",
    "wake.patience": f"{_NONE}: a ball is named after 15 minutes",
    "wake.carriers": f"{_NONE}: entries that travel with a branch wake nobody",
    "wake.per_hour": f"{_COUNTS} {WAKES_PER_HOUR}, and can be removed",
    "defaults": f"{_NONE}; instead, in your shell: alias wl='wc list --open'",
    "notify.targets": f"{_NONE}; instead: {_SET} notify.command desktop",
}


def about_unknown(key: str) -> str:
    """A sentence about a key in a file that this version does not know; ``key`` may
    begin with the name of the file."""
    name = key.rpartition(": ")[2]
    return f"{key} {_WENT.get(name, f'{_NONE}: remove or correct it')}"


def is_name(value: Any) -> bool:
    """Whether a value in a file can be a participant's name."""
    return isinstance(value, str) and value.strip() != ""


def split(name: str) -> tuple[str, ...]:
    """The parts of a typed key: dots between quotation marks do not separate."""
    parts, quoted = [""], ""
    for character in name:
        if quoted or character not in "\"'.":
            if character == quoted:
                quoted = ""
            else:
                parts[-1] += character
        elif character == ".":
            parts.append("")
        else:
            quoted = character
    return tuple(parts)


def find(parts: Sequence[str], keys: Iterable[Key] = KEYS) -> Key | None:
    """The key with these parts; ``None`` if there is none."""
    name = ".".join(parts)
    found = (key for key in keys if _fits(key.parts, parts))
    return next((key for key in found if not name.endswith(key.former)), None)


def _fits(declared: Sequence[str], parts: Sequence[str]) -> bool:
    return len(declared) == len(parts) and all(
        part == name or (name.isupper() and part.strip() != "")
        for name, part in zip(declared, parts, strict=True)
    )


def checked(key: Key, value: Any) -> Any:
    """The value of a key in a file, in the form in which it is used. Raises
    ValueOfKeyError."""
    word = key.parts[-1]
    if key.kind == CHOICE and value not in key.allowed:
        allowed = ", ".join(key.allowed)
        raise ValueOfKeyError(f"{word} = {value!r} is not one of {allowed}")
    if key.kind == NUMBER and not _is_within(value, key.least, key.most):
        limits = f"a number from {key.least} to {key.most}"
        raise ValueOfKeyError(f"{word} = {value!r} is not {limits}")
    if key.kind == SWITCH and not isinstance(value, bool):
        raise ValueOfKeyError(f"{word} = {value!r} is neither true nor false")
    if key.kind == SERVER:
        return _server(word, value, key.allowed)
    if key.kind in _TEXT_CHECKS and not _TEXT_CHECKS[key.kind](value):
        raise ValueOfKeyError(f"{word} = {value!r} is not {_KINDS[key.kind]}")
    if key.kind in _LISTS:
        return _several(word, value, key.allowed)
    return value


_LISTS = frozenset({NAMES, TEXTS, CHOICES})


def _is_within(value: Any, least: int, most: int) -> bool:
    return type(value) is int and least <= value <= most


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and value.strip() != ""


def _is_address(value: Any) -> bool:
    """Whether a value is a URL that a model server can have. A password in it would be
    a secret in a file."""
    return isinstance(value, str) and re.fullmatch(_ADDRESS, value) is not None


# A host, or an IPv6 address in brackets, then a port and a path, without a query.
_ADDRESS = (
    r"(?i)https?://([^\s\[\]/?#@:\\\x00-\x20\x7f]+|\[[0-9a-f:.]+\])"
    r"(:[0-9]{1,5})?(/[^\s?#\x00-\x20\x7f]*)?"
)
_TEXT_CHECKS = {NAME: _is_text, COMMAND: _is_text}


def _server(word: str, value: Any, allowed: tuple[str, ...]) -> ModelServer:
    words = value if isinstance(value, list) else [value]
    is_word = len(words) == 1 and words[0] in allowed
    has_parts = 0 < len(words) <= len(ModelServer._fields)
    are_texts = all(map(_is_text, words))
    if not (is_word or (has_parts and are_texts and _is_address(words[0]))):
        raise ValueOfKeyError(f"{word} = {value!r} is not {_KINDS[SERVER]}")
    return ModelServer(*words)


def _several(word: str, value: Any, allowed: tuple[str, ...]) -> tuple[str, ...]:
    texts = [value] if isinstance(value, str) else value
    if not isinstance(texts, list) or not all(map(_is_text, texts)):
        raise ValueOfKeyError(f"{word} = {value!r} is neither text nor a list of texts")
    if len(texts) > _MAX_TEXTS:
        raise ValueOfKeyError(f"{word} has more than {_MAX_TEXTS} values")
    wrong = [text for text in texts if allowed and text not in allowed]
    if wrong:
        names = ", ".join(allowed)
        raise ValueOfKeyError(f"{word} = {wrong[0]!r} is not one of {names}")
    return tuple(texts)


def typed(key: Key, words: Sequence[str]) -> Any:
    """The value of a key that a user typed, in the form for a file. Raises
    ValueOfKeyError."""
    if key.kind in _LISTS or key.kind == SERVER:
        value: Any = list(words) if len(words) > 1 else "".join(words)
        checked(key, value)
        return value
    if len(words) != 1:
        raise ValueOfKeyError(f"{key.name} takes one value")
    value = words[0]
    if key.kind == NUMBER and value.isascii() and value.isdigit():
        value = int(value[:_DIGITS])
    elif key.kind == SWITCH:
        value = {"true": True, "false": False}.get(value, value)
    checked(key, value)
    return value


_DIGITS = 18
