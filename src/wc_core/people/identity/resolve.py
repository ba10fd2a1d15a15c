"""The rules that determine the caller's `Name` from options, environment and git.

- agent: ``--as``, ``WATERCOOLER_AGENT``, an MCP client that is an agent, the
  agent we run inside by its variable, or else by its program (see `ancestry`), any
  other MCP client, the agent whose own user git is configured for; else it is a
  person
- tag: in the name, ``WATERCOOLER_USER``, git's user, the user on record (see
  `userrecord`), the git user of the whole machine, the OS user; none if git is
  configured for an agent's own user
- seat: in the name, ``--seat``, ``WATERCOOLER_SEAT``, in a linked worktree its
  change id or branch, in the main worktree the branch in a sandbox, or ``main`` if
  the settings say so, in the store's own checkout none; if the seat is ``session``,
  the session's end after that of the worktree

A person has neither tag nor seat: a person is the same participant in all worktrees. An
agent in the cloud may have no tag either: nobody has said whose it is.
Each list of rules is a function: `identify` takes the first rule with a value,
``wc whoami --explain`` shows them all.
"""

from __future__ import annotations

from wc_core.base import names, sandboxes
from wc_core.base.agents import agent_of_bot
from wc_core.base.errors import InvalidInputError
from wc_core.base.layout import BRANCH
from wc_core.base.names import (
    ASKER,
    FREE_WORDS,
    MAX_NAME_BYTES,
    ME,
    Name,
    is_fit,
    unbracketed,
)
from wc_core.base.values import NamedTuple
from wc_core.ledger.git import config, seats
from wc_core.ledger.git.authorship import Person
from wc_core.people.identity import environment, userrecord

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from wc_core.ledger.git.repository import Repository
    from wc_core.ledger.threads.settings import Settings
    from wc_core.people.identity.userrecord import UserRecord

# The word for a seat that gives each session of an agent its own seat.
SESSION = "session"


class Rule(NamedTuple):
    """A rule by its name, with the value that it found, or ``""``."""

    name: str
    value: str = ""


class Evidence(NamedTuple):
    """The machine's information about the caller, apart from the environment. It is
    looked up only if no earlier rule has a value.

    - ``recorded``: returns the user on record
    - ``started_by``: returns the agent among the programs that started us, or empty
    """

    recorded: Callable[[], UserRecord] = lambda: userrecord.NOBODY
    started_by: Callable[[], str] = str


NO_EVIDENCE = Evidence()


class Asked(NamedTuple):
    """The identity that a command line or a client requests."""

    name: str = ""
    seat: str = ""
    client: str = ""


class Identity(NamedTuple):
    """A participant, and the rule that determined them (for ``wc whoami``).

    ``behind`` is the person that an agent works for; empty for a person.
    ``agents_tag`` is the tag of the agents that work for the same person.
    """

    name: Name
    source: str
    person: bool = False
    behind: str = ""
    agents_tag: str = ""

    @property
    def own_tag(self) -> str:
        """The tag of the participant's own agents."""
        return self.agents_tag or self.name.tag

    @property
    def author(self) -> str:
        """The name as it is in entries."""
        return str(self.name)


def identify(
    asked: Asked,
    env: Mapping[str, str],
    repository: Repository | None,
    settings: Settings,
    evidence: Evidence = NO_EVIDENCE,
) -> Identity:
    """The participant who is acting.

    Raises InvalidInputError for a name with line breaks or control characters, for one
    that is too long or that means no one in particular, and if no rule determines
    anyone.
    """
    user = winning_rule(user_rules(env, repository, evidence))
    person = names.parse(user.value).agent
    agent = winning_rule(agent_rules(asked, env, settings, evidence, repository))
    if not agent.value:
        return _person(user, person)
    name = settings.directory.canonical(names.parse(checked_name(agent.value)))
    is_agent = bool(name.tag) or settings.directory.is_agent(name)
    is_short = names.fold(name.agent) != names.fold(person)
    if is_short and not is_agent and names.is_short_for(name.agent, person):
        name = name._replace(agent=person)
    _refuse_reserved(name)
    if not name.tag and names.fold(name.agent) == names.fold(person):
        agents_tag = unbracketed(user.value)
        return Identity(name, agent.name, person=True, agents_tag=agents_tag)
    tag = name.tag or unbracketed(checked_name(user.value, _origin(user)))
    places = tuple(worktree_rules(repository, settings, env))
    seat = winning_rule(seat_rules(name, asked, env, places))
    full = Name(name.agent, name.seat or unbracketed(seat.value), tag)
    if names.parse(str(full)) != full:
        raise InvalidInputError(
            f"{agent.value!r} cannot be a name.", "Write it as: Agent@seat (tag)"
        )
    former = _former_seats(seat, winning_rule(places), repository)
    full = full._replace(former=former)
    behind = name.tag or person
    return Identity(full, agent.name, behind=behind, agents_tag=tag)


def process_agent(
    env: Mapping[str, str],
    repository: Repository | None,
    settings: Settings,
    evidence: Evidence = NO_EVIDENCE,
) -> str:
    """The agent whose process this is, whatever name it gives; empty for a person's.

    The variables that agents set for their commands and the programs that started us
    decide, and ``WATERCOOLER_AGENT`` if it names someone other than the person. This
    stops mistakes and agents that obey, not a program that hides what it is.
    """
    claimed = Asked(env.get("WATERCOOLER_AGENT", "").strip())
    if claimed.name:
        identity = identify(claimed, env, repository, settings, evidence)
        if not identity.person:
            return identity.name.agent
    own = {name: env[name] for name in env if name != "WATERCOOLER_AGENT"}
    rule = winning_rule(agent_rules(Asked(), own, settings, evidence, repository))
    sandbox = sandboxes.current(env)
    if not rule.value and sandbox is not None:
        return sandbox.name
    return settings.directory.canonical(names.parse(rule.value)).agent


def person_behind(
    env: Mapping[str, str],
    repository: Repository | None,
    evidence: Evidence = NO_EVIDENCE,
) -> Identity:
    """The person of this machine, even if an agent of theirs runs us.

    Raises InvalidInputError as `identify`.
    """
    user = winning_rule(user_rules(env, repository, evidence))
    return _person(user, names.parse(user.value).agent)


def _person(user: Rule, person: str) -> Identity:
    """The person who is acting, by the rule that determined the user."""
    if not user.value:
        raise InvalidInputError(
            "It is not known who you are.",
            "Set it with --as NAME, WATERCOOLER_AGENT or git config user.name.",
        )
    name = Name(checked_name(person, _origin(user)))
    _refuse_reserved(name)
    source = GIT_USER if user.name in _GIT_RULES else "user"
    return Identity(name, source, person=True, agents_tag=unbracketed(user.value))


def _origin(user: Rule) -> str:
    """Where the name of the user is from, for errors."""
    return "git's user.name" if user.name in _GIT_RULES else user.name


def _former_seats(
    seat: Rule, place: Rule, repository: Repository | None
) -> tuple[str, ...]:
    """The other names of a seat that is a worktree, or a session in one."""
    is_place = seat.name in {SESSION, place.name} and place.value != ""
    if repository is None or not is_place:
        return ()
    end = seat.value.removeprefix(place.value)
    names = seats.former_names(repository)
    return tuple(f"{name}{end}" for name in names if f"{name}{end}" != seat.value)


def winning_rule(rules: Iterable[Rule]) -> Rule:
    """The rule that wins: the first with a value."""
    return next((rule for rule in rules if rule.value), Rule(""))


def _refuse_reserved(name: Name) -> None:
    """Raise InvalidInputError for a word that means any speaker or asker, or no one."""
    if names.fold(name.agent) in FREE_WORDS | {ME, ASKER}:
        raise InvalidInputError(
            f"{name.agent!r} cannot be a participant's name: its ball would belong "
            "to no one or everyone.",
            "Say who you are with --as NAME, WATERCOOLER_AGENT or WATERCOOLER_USER, "
            "such as: Codex",
        )


def agent_rules(
    asked: Asked,
    env: Mapping[str, str],
    settings: Settings,
    evidence: Evidence = NO_EVIDENCE,
    repository: Repository | None = None,
) -> Iterator[Rule]:
    """The rules that determine an agent; without a value it is a person.

    A client that is a known agent has started the server itself, while its environment
    may come from the agent that started the client.
    """
    yield Rule("--as", asked.name.strip())
    yield Rule("WATERCOOLER_AGENT", env.get("WATERCOOLER_AGENT", "").strip())
    is_agent = names.fold(asked.client) in settings.directory.aliases
    yield Rule("client", asked.client if is_agent else "")
    for variable, agent in environment.agents_in(env):
        yield Rule(variable, agent)
    yield Rule("program", evidence.started_by())
    yield Rule("client", "" if is_agent else asked.client)
    yield Rule("git's bot", bot_of_git(env, repository))


# Git's rule, in `user_rules` and as a source.
GIT_USER = "git user"
_RECORDED = "recorded git user"
SYSTEMWIDE = "system's git user"
_SYSTEM_VARIABLES = ("GIT_CONFIG_NOSYSTEM", "GIT_CONFIG_SYSTEM")
_GIT_RULES = frozenset({GIT_USER, _RECORDED, SYSTEMWIDE})


def user_rules(
    env: Mapping[str, str],
    repository: Repository | None,
    evidence: Evidence = NO_EVIDENCE,
) -> Iterator[Rule]:
    """The rules that determine the person: the speaker, or the tag of an agent.

    Git's configuration of the whole machine counts after the record of the user's own:
    it is what remains if a client hides that.
    """
    yield Rule("WATERCOOLER_USER", env.get("WATERCOOLER_USER", "").strip())
    own = _configured(repository, userrecord.without_system(env))
    yield Rule(GIT_USER, _person_of(own))
    record = evidence.recorded()
    system = _configured(None, _system_only(env))
    rules = (
        Rule(_RECORDED, _person_of(record.user)),
        Rule(SYSTEMWIDE, _person_of(system)),
    )
    # Where a bot works, nobody is behind the users of the system and of the record.
    is_bot = agent_of_bot(*own) != ""
    for rule in reversed(rules) if record.systemwide else rules:
        yield rule._replace(value="") if is_bot else rule
    is_bot = is_bot or any(agent_of_bot(*user) for user in (record.user, system))
    yield Rule("OS user", "" if is_bot else env.get("USER") or env.get("LOGNAME") or "")


def bot_of_git(env: Mapping[str, str], repository: Repository | None) -> str:
    """The agent whose own user git is configured for here; empty for a person."""
    return agent_of_bot(*_configured(repository, env))


def _configured(repository: Repository | None, env: Mapping[str, str]) -> Person:
    """The user in git's configuration."""
    values = config.get_all(("user.name", "user.email"), repository, env)
    return Person(values["user.name"].strip(), values["user.email"].strip())


def _person_of(user: Person) -> str:
    """The name of a user, unless it is a bot. Git accepts tabs and control characters
    in it; they count as blanks."""
    if agent_of_bot(*user):
        return ""
    if user.name.isprintable():
        return user.name
    printable = (char if char.isprintable() else " " for char in user.name)
    return " ".join("".join(printable).split())


def _system_only(env: Mapping[str, str]) -> Mapping[str, str]:
    """The environment in which git reads only the configuration of the whole
    machine."""
    return {name: env[name] for name in _SYSTEM_VARIABLES if name in env}


def seat_rules(
    name: Name,
    asked: Asked,
    env: Mapping[str, str],
    places: Iterable[Rule],
) -> Iterator[Rule]:
    """The rules that determine the seat of ``name``, an agent; ``places`` are the
    `worktree_rules`.

    Raises InvalidInputError for a seat that cannot be part of a name.
    """
    yield Rule("in the name", name.seat)
    wished = env.get("WATERCOOLER_SEAT", "")
    for option, seat in (("--seat", asked.seat), ("WATERCOOLER_SEAT", wished)):
        yield Rule(option, "" if seat.strip() == SESSION else checked_name(seat))
    by_session = (asked.seat.strip() or wished.strip()) == SESSION
    session = environment.session_end(env) if by_session else ""
    place = winning_rule(places).value if session else ""
    yield Rule(SESSION, f"{place}.{session}" if place else session)
    yield from places


# The seat of the main worktree, if the settings give it one.
_MAIN = "main"


def worktree_rules(
    repository: Repository | None, settings: Settings, env: Mapping[str, str]
) -> Iterator[Rule]:
    """The rules that use a worktree as a seat. The store's own checkout is not a seat,
    because its branch is the same for everyone."""
    if repository is None or settings.seats == "off":
        return
    branch = repository.working_branch
    if branch == BRANCH:
        return
    if not repository.linked:
        if sandboxes.current(env) is not None:
            # Each session there has a clone of its own, and a branch.
            yield Rule("branch", branch if is_fit(branch) else "")
        yield Rule("main worktree", _MAIN if settings.seats == "all" else "")
        return
    for rule, seat in (
        ("change id", repository.change_id),
        ("branch", branch),
        ("worktree", repository.worktree_id),
    ):
        yield Rule(rule, seat if seat and is_fit(seat) else "")


def checked_name(text: str, origin: str = "") -> str:
    """A name, or part of one, stripped. Raises InvalidInputError, which says that it is
    from ``origin``, if it is too long or has unprintable characters."""
    clean = text.strip()
    if is_fit(clean):
        return clean
    source = f", from {origin}," if origin else ""
    if not clean.isprintable():
        raise InvalidInputError(
            f"{text!r}{source} cannot be a name: it has non-printing characters.",
            "Use one line of ordinary characters, such as: Codex@fix (pat)",
        )
    raise InvalidInputError(
        f"The name {clean[:40]}…{source} is longer than {MAX_NAME_BYTES} bytes.",
        "Use a shorter one.",
    )
