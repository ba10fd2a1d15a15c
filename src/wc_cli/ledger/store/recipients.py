"""The possible recipients of a ball: the names that this store and repository know."""

from __future__ import annotations

from wc_core.base import names
from wc_core.base.agents import AGENTS, agent_of_bot
from wc_core.base.errors import NotFoundError, WcError
from wc_core.base.lean import contextlib
from wc_core.base.names import Name, near_names
from wc_core.ledger.git import seats
from wc_core.ledger.threads import moves
from wc_core.ledger.threads.counterparts import in_use
from wc_core.people.identity import userrecord

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from wc_core.base.agents import Agent
    from wc_core.base.names import Directory
    from wc_core.ledger.git.discovery import Place
    from wc_core.ledger.threads.reader import StoreReader
    from wc_core.ledger.threads.settings import Settings
    from wc_core.people.identity.resolve import Identity

_MAX_SUGGESTED = 5
# Stands for any agent if only the seat or the tag of a name is known.
_ANY_AGENT = "-"


class Addressees:
    """The participants that ``me`` may pass a ball to without --force."""

    def __init__(
        self,
        reader: StoreReader,
        place: Place,
        rules: Settings,
        me: Identity,
        env: Mapping[str, str],
    ) -> None:
        self.reader = reader
        self.place = place
        self.rules = rules
        self.me = me
        self.env = env

    @property
    def _user(self) -> str:
        """The tag of the agents that work for the same person as the speaker; empty if
        it is not known whose agent the speaker is."""
        own_name = self.me.name.agent if self.me.person else ""
        return self.me.agents_tag or self.me.name.tag or own_name

    def resolve(self, topic: str, to: str) -> str:
        """The full name in its usual spelling, if it matches exactly one participant.
        A person is also understood by the first words of their name and by the address
        that git is configured with.

        Raises NotFoundError, with similar names, for an unknown name.
        """
        candidates = self._nearby_names(topic)
        if moves.unknown_parts(to, candidates, self.rules):
            # The expensive list, which opens every thread, only for a rare name.
            candidates = self._all_names() + self._seats()
            written, to = to, self._understood(to, candidates)
            unknown = moves.unknown_parts(to, candidates, self.rules)
            if unknown:
                raise self._unknown_name_error(written, unknown)
        if moves.is_relative(to):
            return to
        return self._in_full(to, candidates)

    def knows(self, name: str) -> bool:
        """Return whether it is the name of a participant, or of an agent."""
        people = self._all_names() + self._seats()
        return not moves.unknown_parts(
            self._understood(name, people), people, self.rules
        )

    def understood(self, name: str) -> str:
        """Return the full name that a written one is short for; otherwise as it is."""
        return self._understood(name, self._all_names() + self._seats())

    def _understood(self, to: str, people: list[str]) -> str:
        """A written name with the full names of its agent and tag, where they are
        short for exactly one person's: ``Pat`` for Pat Doe, ``@Codex``, an address."""
        owner = self._owner_of(to.strip())
        if owner:
            return owner
        name = names.parse(to.strip().removeprefix("@"))
        if not moves.unknown_parts(str(name), people, self.rules):
            return str(name)
        # The tags of agents are persons, too.
        participants = map(names.parse, people)
        persons = [part for name in participants for part in (name.agent, name.tag)]
        agent, tag = (_person_of(part, persons) for part in (name.agent, name.tag))
        return str(Name(agent, name.seat, tag))

    def _owner_of(self, address: str) -> str:
        """The participant whom git knows by an address: the person of this machine or
        a known agent; empty for any other."""
        repository, root = self.place.repository, self.place.root
        configured = userrecord.configured_user(repository, self.env).user
        recorded = userrecord.recorded_user(root, self.env).user
        addresses = {user.email.casefold() for user in (configured, recorded)} - {""}
        if address.casefold() in addresses and not agent_of_bot("", address):
            return names.parse(self.me.behind or self._user).agent
        return agent_of_bot("", address)

    def _unknown_name_error(self, to: str, unknown: list[str]) -> NotFoundError:
        suggested = self._suggested_names()
        name = names.parse(to)
        near = self._near_seats(name) if name.seat and unknown == ["seat"] else []
        near = near or near_names(to, suggested) or suggested[:_MAX_SUGGESTED]
        return NotFoundError(
            f"Nobody here is called {to!r} ({', '.join(unknown)} unknown).",
            f"Did you mean: {', '.join(near)}? To pass it there anyway: --force",
        )

    def _in_full(self, to: str, candidates: Iterable[str]) -> str:
        """A known name in its usual spelling. An agent's name in a worktree gets its
        tag, if only one such agent is known."""
        directory = self.rules.directory
        name = directory.canonical(names.parse(to))
        if name.seat and not name.tag and directory.is_agent(name):
            # In this order: participants, then possible agents in our worktrees.
            for people in (candidates, self._own_agents(name)):
                full_names = _full_names(name, people, directory)
                if full_names:
                    return full_names[0] if len(full_names) == 1 else str(name)
        return in_use(name, candidates, directory)

    def _own_agents(self, name: Name) -> list[str]:
        """The names that ``name`` would have in each worktree of this repository."""
        known = (names.parse(seat).seat for seat in self._seats())
        return [str(name._replace(seat=seat, tag=self._user)) for seat in known]

    def _nearby_names(self, topic: str) -> list[str]:
        """The names known without opening other threads."""
        candidates = [*self._configured_names(topic), *self._seats()]
        with contextlib.suppress(WcError):
            candidates.extend(self.reader.snapshot(topic).state.people)
        return candidates

    def _configured_names(self, topic: str) -> list[str]:
        configured = self._configured_people(topic)
        own_agents = f"{_ANY_AGENT} ({self._user})" if self._user else _ANY_AGENT
        return [*configured, own_agents, *self.rules.directory.aliases.values()]

    def _configured_people(self, topic: str) -> list[str]:
        """The author, and the counterparts in the settings."""
        # The person whose agent this is, who gets the ball when a person is needed.
        people = [self.me.author, *filter(None, [self.me.behind or self._user])]
        for table in self.rules.counterparts_in([topic]):
            for chain in table.values():
                people.extend(chain)
        return people

    def _seats(self) -> list[str]:
        """The seats of this repository's worktrees, for any agent, with the names that
        they have had."""
        if self.place.repository is None:
            return []
        names = seats.all_names(self.place.repository).values()
        return [f"{_ANY_AGENT}@{seat}" for tree in names for seat in tree]

    def _worktree_seats(self) -> dict[str, str]:
        """The seat of each of this repository's worktrees, with its branch."""
        repository = self.place.repository
        if repository is None:
            return {}
        trees = seats.trees(repository)
        return {seats.current_name(tree): tree.working_branch for tree in trees}

    def _near_seats(self, name: Name) -> list[str]:
        """The name with the seats that may be meant by its unknown one."""
        branches = self._worktree_seats()
        with_branch = [seat for seat in branches if branches[seat] == name.seat]
        near = with_branch or near_names(name.seat, list(branches))
        return [str(name._replace(seat=seat)) for seat in near]

    def _all_names(self) -> list[str]:
        """Every name in the store, participants first."""
        return list(dict.fromkeys([*self._people(), *self._configured_names("")]))

    def _people(self) -> list[str]:
        """Everyone in a thread of the store."""
        people: dict[str, None] = {}
        for topic in self.reader.topics():
            with contextlib.suppress(WcError):
                people.update(dict.fromkeys(self.reader.snapshot(topic).state.people))
        return list(people)

    def _suggested_names(self) -> list[str]:
        """The people of the store, and the installed agents; not every agent that wc
        knows."""
        agents = (agent.name for agent in AGENTS if _is_installed(agent))
        people = [*self._people(), *self._configured_people(""), *agents]
        return list(dict.fromkeys(people))


def _person_of(short: str, persons: Iterable[str]) -> str:
    """The only one of the names that begins with the words of ``short``; ``short``
    itself if there is none, or more than one."""
    matching = {
        names.fold(person): person
        for person in persons
        if names.is_short_for(short, person)
    }
    exact = names.fold(short) in matching
    return next(iter(matching.values())) if len(matching) == 1 and not exact else short


def _full_names(name: Name, people: Iterable[str], directory: Directory) -> list[str]:
    """The names with a tag that ``name``, which has none, may stand for."""
    key, full_names = directory.key(name), dict[str, str]()
    for person in people:
        full = directory.canonical(names.parse(person))
        if full.tag and directory.key(full._replace(tag="")) == key:
            full_names.setdefault(directory.key(full), str(full))
    return list(full_names.values())


def _is_installed(agent: Agent) -> bool:
    """Return whether a program of this agent is installed."""
    import shutil  # 4 ms, only for errors

    words = (agent.client, *agent.spellings)
    return any(shutil.which(word) for word in words if word)
