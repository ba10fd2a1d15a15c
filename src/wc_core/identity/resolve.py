"""Who is asking: the rule that makes a `Name` of options, environment, git.

- agent: ``--as``, ``WATERCOOLER_AGENT``, an MCP client that is an agent, the
  agent we run inside, any other MCP client, a person
- tag: in the name, ``WATERCOOLER_USER``, git's user, the OS user
- seat: in the name, ``--seat``, ``WATERCOOLER_SEAT``, in a linked worktree its
  change id or branch, in the main worktree ``main`` if the settings say so, in
  the store's own checkout none; where ``session`` was said for it, the session's
  behind that of the worktree

A person has neither tag nor seat of their own: they are the same one in all
of their worktrees. The rules are functions of their own, each in its order, for
`identify` to take the first that finds something and for ``wc whoami --explain``
to show them all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from wc_core import names
from wc_core.errors import InvalidInputError
from wc_core.git import config
from wc_core.identity import agents
from wc_core.layout import BRANCH
from wc_core.names import FREE_WORDS, MAX_NAME_BYTES, Name

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from wc_core.git.repository import Repository
    from wc_core.threads.settings import Settings

# What may be said for a seat so that sessions of one agent have one each.
SESSION = "session"


class Rule(NamedTuple):
    """A rule by its name, and what it found; empty where that is nothing."""

    name: str
    found: str = ""


class Asked(NamedTuple):
    """What was said about identity on the command line or by a client."""

    name: str = ""
    seat: str = ""
    client: str = ""


class Identity(NamedTuple):
    """A participant, and which rule named them (for ``wc whoami``).

    ``branch`` is the one that was checked out, or empty, where the seat would
    be another with another branch; else ``None``.
    """

    name: Name
    source: str
    person: bool = False
    branch: str | None = None

    @property
    def author(self) -> str:
        """The name as entries carry it."""
        return str(self.name)


def identify(
    asked: Asked,
    env: Mapping[str, str],
    repository: Repository | None,
    settings: Settings,
) -> Identity:
    """The participant that speaks.

    Raises InvalidInputError for a name with line breaks, control characters
    or too long, for one that means nobody in particular, and where nothing at
    all names anybody.
    """
    user = first(user_rules(env, repository))
    person = names.parse(user.found).agent
    spoken = first(agent_rules(asked, env, settings))
    if not spoken.found:
        if not user.found:
            raise InvalidInputError(
                "Nothing says who you are.",
                "Say it with --as NAME, WATERCOOLER_AGENT or git config user.name.",
            )
        source = GIT_USER if user.name == GIT_USER else "user"
        return Identity(_somebody(Name(checked(person))), source, person=True)
    name = _somebody(settings.directory.canonical(names.parse(checked(spoken.found))))
    if not name.tag and names.fold(name.agent) == names.fold(person):
        return Identity(name, spoken.name, person=True)
    tag = name.tag or _unbracketed(checked(user.found))
    places = tuple(worktree_rules(repository, settings))
    seat = first(seat_rules(name, asked, env, places))
    place = first(places).name
    branch = None
    if repository and place in _OF_THE_BRANCH and seat.name in {SESSION, place}:
        branch = repository.branch
    full = Name(name.agent, name.seat or _unbracketed(seat.found), tag)
    if names.parse(str(full)) != full:
        raise InvalidInputError(
            f"{spoken.found!r} cannot be a name.", "Write it as: Agent@seat (tag)"
        )
    return Identity(full, spoken.name, branch=branch)


def first(rules: Iterable[Rule]) -> Rule:
    """The rule that wins: the first that finds something."""
    return next((rule for rule in rules if rule.found), Rule(""))


def _somebody(name: Name) -> Name:
    """``name``, which must not be a word for whoever asks or for nobody."""
    if names.fold(name.agent) in FREE_WORDS | {"me"}:
        raise InvalidInputError(
            f"{name.agent!r} cannot be anybody's own name: a ball at it would be "
            "nobody's or everybody's.",
            "Say who you are with --as NAME, WATERCOOLER_AGENT or WATERCOOLER_USER, "
            "such as: Codex",
        )
    return name


def _unbracketed(text: str) -> str:
    """A seat or tag of somebody else's making, fit to be read back: of
    ``Codex@fix(ui)`` and ``Codex (Pat (Acme))`` the brackets would not be."""
    return " ".join(text.replace("(", " ").replace(")", " ").split())


def agent_rules(
    asked: Asked, env: Mapping[str, str], settings: Settings
) -> Iterator[Rule]:
    """What names an agent, if anything does; else it is a person.

    A client that is an agent we know is the one that started the server. What
    an environment says may have been said to its parent.
    """
    yield Rule("--as", asked.name.strip())
    yield Rule("WATERCOOLER_AGENT", env.get("WATERCOOLER_AGENT", "").strip())
    known = names.fold(asked.client) in settings.directory.aliases
    yield Rule("client", asked.client if known else "")
    for variable, agent in agents.found(env):
        yield Rule(variable, agent)
    yield Rule("client", "" if known else asked.client)


# The rule that is git's own, in `user_rules` and as a source.
GIT_USER = "git user"


def user_rules(env: Mapping[str, str], repository: Repository | None) -> Iterator[Rule]:
    """What names the person: who speaks where no agent does, else the tag."""
    yield Rule("WATERCOOLER_USER", env.get("WATERCOOLER_USER", "").strip())
    yield Rule(GIT_USER, config.get("user.name", repository, env).strip())
    yield Rule("OS user", env.get("USER") or env.get("LOGNAME") or "")


_OF_THE_BRANCH = frozenset({"branch", "worktree"})


def seat_rules(
    name: Name,
    asked: Asked,
    env: Mapping[str, str],
    places: Iterable[Rule],
) -> Iterator[Rule]:
    """What names the seat of ``name``, an agent; ``places`` are `worktree_rules`.

    Raises InvalidInputError for one that cannot be said.
    """
    yield Rule("in the name", name.seat)
    for option, said in (
        ("--seat", asked.seat),
        ("WATERCOOLER_SEAT", env.get("WATERCOOLER_SEAT", "")),
    ):
        yield Rule(option, "" if said.strip() == SESSION else checked(said))
    said = asked.seat.strip() or env.get("WATERCOOLER_SEAT", "").strip()
    session = agents.session(env) if said == SESSION else ""
    place = first(places).found if session else ""
    yield Rule(SESSION, f"{place}.{session}" if place else session)
    yield from places


# The seat of a main worktree, where the settings say that it is one.
_MAIN = "main"


def worktree_rules(repository: Repository | None, settings: Settings) -> Iterator[Rule]:
    """What a worktree is called that is a seat. The store's own checkout is
    nobody's: its branch is the same for all."""
    if repository is None or settings.seats == "off" or repository.branch == BRANCH:
        return
    if not repository.linked:
        yield Rule("main worktree", _MAIN if settings.seats == "all" else "")
        return
    branch = repository.branch
    for rule, found in (
        ("change id", repository.change_id),
        ("branch", branch),
        ("worktree", repository.worktree_id),
    ):
        yield Rule(rule, found if found and _is_fit(found) else "")


def checked(text: str) -> str:
    """A name, or part of one, fit to stand on one line.

    Raises InvalidInputError otherwise.
    """
    clean = text.strip()
    if _is_fit(clean):
        return clean
    if not clean.isprintable():
        raise InvalidInputError(
            f"{text!r} cannot be a name: it has characters that do not print.",
            "Use one line of ordinary characters, such as: Codex@fix (pat)",
        )
    raise InvalidInputError(
        f"The name {clean[:40]}… is longer than {MAX_NAME_BYTES} bytes.",
        "Use a shorter one.",
    )


def _is_fit(text: str) -> bool:
    return text.isprintable() and len(text.encode()) <= MAX_NAME_BYTES
