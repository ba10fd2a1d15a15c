"""Which balls an agent may be started for now, and why not for the others."""

from __future__ import annotations

import os

from wc_cli.agents.runs import commands
from wc_cli.agents.runs.places import Places, changed_text
from wc_cli.ledger.clock import now_ms
from wc_cli.run.context import Context
from wc_cli.run.entries.lostseats import cloud_start
from wc_core.attention.runs import records
from wc_core.attention.wake import senders, waiters
from wc_core.base import agents
from wc_core.base.errors import ConflictError, NotFoundError, WcError
from wc_core.base.layout import safe_name
from wc_core.base.names import FREE, SPELLINGS, Name, fold, parse
from wc_core.base.phrases import quoted
from wc_core.base.text import one_line
from wc_core.base.values import NamedTuple
from wc_core.edits.claims import sessions
from wc_core.edits.notes import reading
from wc_core.ledger.configuration import preferences
from wc_core.ledger.configuration.keys import OFF
from wc_core.ledger.git import repository
from wc_core.ledger.git.discovery import BRANCH_STORE
from wc_core.ledger.provenance import RUN, Provenance, may
from wc_core.ledger.threads.model import BLOCKED, CLOSED, State
from wc_core.people import activity
from wc_core.people.identity.resolve import Asked

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from wc_cli.agents.runs.places import RunPlace
    from wc_core.attention.runs.records import RunRecord
    from wc_core.ledger.configuration.preferences import Preferences
    from wc_core.ledger.threads.reader import Thread
    from wc_core.reading.views.rows import ThreadRow


class RunRequest(NamedTuple):
    """What `wc run` was asked for. ``topics``: only these threads. ``ready``: free
    balls of threads that are ready, too, for ``agent``; without ``ready`` that is the
    only agent that is started. ``mine``: only threads that the person asked for.
    ``start`` is the branch from which new worktrees are made."""

    topics: tuple[str, ...] = ()
    ready: bool = False
    mine: bool = False
    agent: str = ""
    start: str = ""


class RunCandidate(NamedTuple):
    """A thread whose ball is an agent's, by its canonical name. ``obstacle`` is why no
    agent is started for it now; otherwise it has the ``command`` and the ``place``."""

    state: State
    agent: str
    obstacle: str = ""
    command: tuple[str, ...] = ()
    place: RunPlace | None = None

    @property
    def topic(self) -> str:
        """The thread."""
        return self.state.topic


class ThreadChangedError(ConflictError):
    """A thread, or its place, has changed since it was looked at."""


class Chooser:
    """Looks at the threads of a store once, for a person's request."""

    def __init__(self, context: Context, request: RunRequest) -> None:
        self.context = context
        self.request = request
        self.own: Preferences = preferences.load(context.env)
        self.layout = context.reader.layout
        self.now_ms = now_ms()
        self._places: dict[str, Places] = {}
        self._senders: dict[str, senders.AllowedSenders] = {}
        self._provenance = Provenance(self.layout)

    def candidates(self) -> list[RunCandidate]:
        """Return the threads whose balls are agents', the longest waiting first. Raises
        NotFoundError for a topic that is named and does not exist."""
        reader = self.context.reader
        topics = {reader.find(topic) for topic in self.request.topics}
        candidates = []
        for row in self.context.overview.rows():
            if (topics and row.topic not in topics) or row.status == CLOSED:
                continue
            candidate = self._candidate(row, is_named=bool(topics))
            if candidate is not None:
                candidates.append(candidate)
        return sorted(candidates, key=lambda item: (item.state.since, item.topic))

    def _candidate(self, row: ThreadRow, *, is_named: bool) -> RunCandidate | None:
        """Return a thread as a candidate; ``None`` if its ball is not an agent's."""
        try:
            state = self.context.reader.snapshot(row.topic).state
        except WcError:
            return None  # doctor says what is wrong with it
        candidate = RunCandidate(state, "")
        reason = self._passed_over(state)
        if reason:
            return candidate._replace(obstacle=reason) if is_named else None
        candidate = candidate._replace(agent=self._agent_of(state))
        try:
            # From the log: a push can contain any state.
            thread = self.context.reader.thread(row.topic)
            if reason := self._passed_over(thread.state):
                raise ConflictError(reason)
            agent = self._agent_of(thread.state)
            candidate = RunCandidate(thread.state, agent)
            self._check_origin(thread, agent)
            completed = self._complete(candidate, row)
            self._check_files(thread, completed.place)
        except WcError as error:
            return candidate._replace(obstacle=one_line(error.message.rstrip(".")))
        return completed

    def _agent_of(self, state: State) -> str:
        """Return the agent, by its canonical name, whose move it is or would be."""
        name = Name(self.request.agent) if state.ball is None else parse(state.ball)
        return self.context.settings.directory.canonical(name).agent

    def _passed_over(self, state: State) -> str:
        """Return why the request is not about a thread; empty if it is."""
        request, directory = self.request, self.context.settings.directory
        agent = directory.canonical(Name(request.agent)).agent if request.agent else ""
        if state.ball is None:
            if not agent:
                return "nobody has its ball; name an agent for it: --agent NAME"
            if not (request.ready or request.topics):
                return "nobody has its ball; to take free ones, too: --ready"
        elif not self._is_agent(parse(state.ball)):
            return f"its ball is {state.ball}'s, who is not an agent{self._hint(state)}"
        elif agent and self._agent_of(state) != agent:
            return f"its ball is {state.ball}'s"
        if request.mine and not self.context.viewer.is_me(state.asker):
            return "you did not ask for it"
        return ""

    def _is_agent(self, name: Name) -> bool:
        """Return whether a name is that of an agent on this machine. An alias can come
        with a push, so it makes nobody an agent whom this person has no command for."""
        word = fold(name.agent)
        own = {fold(agent) for agent in self.own.run_commands}
        is_known = word in SPELLINGS or word in own
        return is_known and self.context.settings.directory.is_agent(name)

    def _hint(self, state: State) -> str:
        """Return how to make the holder of a ball an agent, if there is a command for
        it."""
        name = parse(state.ball or "").agent
        words = {fold(word) for word in self.own.run_commands}
        if fold(name) not in words:
            return ""
        return f" here (wc config set aliases.{fold(name)} {name})"

    def _complete(self, candidate: RunCandidate, row: ThreadRow) -> RunCandidate:
        """Return a candidate that can be started. Raises a WcError: it cannot."""
        state, agent = candidate.state, candidate.agent
        for obstacle in self._thread_obstacles(state, row):
            raise ConflictError(obstacle)
        if start := cloud_start(state.ball or "", state.name):
            raise ConflictError(f"you start it in the cloud: {start}")
        command = commands.command_of(agent, self.own)
        commands.require_program(command, self.context.env)
        record = records.load(self.layout, state.topic)
        if record is not None and (record.is_alive or record.is_watched):
            raise ConflictError(f"{record.agent} is at work on it")
        seat = parse(state.ball or "").seat
        place = self._places_of(agent).of(state, seat, record)
        exists = not place.add
        at = self.agent_context(agent, place.path if exists else "")
        self._check_ball(state, at, state.ball)
        for obstacle in self._place_obstacles(state, place, record):
            raise ConflictError(obstacle)
        return candidate._replace(command=command, place=place)

    def _thread_obstacles(self, state: State, row: ThreadRow) -> Iterator[str]:
        if row.waits:
            yield row.waits_text
        if state.status == BLOCKED:
            yield "it is BLOCKED"
        if state.bounces >= self.context.settings.bounces:
            yield f"it went back and forth {state.bounces} times without progress"
        directory = self.context.settings.directory
        for question in state.questions:
            if state.ball is None or not directory.same(question.asked, state.ball):
                yield f"it waits for an answer from {question.asked}"

    @staticmethod
    def _check_ball(state: State, at: Context, holder: str | None) -> None:
        """Raise ConflictError if the ball, which this ``holder`` has, is not that
        agent's."""
        is_free = at.viewer.whose(holder) == FREE
        if not (is_free or at.viewer.holds(holder)):
            raise ConflictError(f"its ball is {state.ball}'s, not one of yours")

    def _check_origin(self, thread: Thread, agent: str) -> None:
        """Raise ConflictError if the ball of a thread came from elsewhere, from someone
        who may not start an agent here."""
        state, origin = thread.state, self._provenance.of_ball(thread)
        sender = senders.sender_of(state) if state.ball else state.asker

        def is_named() -> bool:
            viewer = self.agent_context(agent, "").viewer
            if viewer.key not in self._senders:
                # Names prove nothing, so the own one is no reason.
                named = [name for name in self.own.run_from if name != senders.OWN]
                self._senders[viewer.key] = senders.AllowedSenders(
                    self.context.reader, viewer, tuple(named)
                )
            allowed = self._senders[viewer.key]
            return allowed.anyone or allowed.is_known(sender, state.topic)

        if not may(RUN, origin, is_named):
            topic, recipient = quoted(state.name), quoted(state.ball or agent)
            command = f"wc handoff {topic} --to {recipient} --reason '…'"
            if self.context.place.kind != BRANCH_STORE:
                # Nothing is recorded of a store that wc does not commit.
                command = f"wc config --global set run.from own {quoted(sender)}"
            raise ConflictError(
                f"its ball {origin.text('passed')} (from {sender}). "
                f"To have it started: {command}"
            )

    def _place_obstacles(
        self, state: State, place: RunPlace, record: RunRecord | None
    ) -> Iterator[str]:
        """Yield who or what is in the place."""
        yield from self._session_obstacles(state, place.path)
        if place.add:
            return
        yield from self._workers_in(place.path, state.topic)
        own = (record.worktree, record.made_worktree) if record is not None else ()
        if place.path not in own and (
            changed := self._places_of("").changed(place.path)
        ):
            yield f"its worktree has uncommitted changes: {changed_text(changed)}"

    def _session_obstacles(self, state: State, path: str) -> Iterator[str]:
        """Yield the open sessions that are woken for a ball, or work at ``path``."""
        directory = self.context.settings.directory
        key = safe_name(directory.key(parse(state.ball or "")))
        for waiter in waiters.running(self.layout):
            # It is woken for the ball, or has just been.
            is_for_it = key in waiter.keys and not waiter.is_deaf
            if is_for_it or waiter.worktree == path:
                yield f"a session of {waiter.agent} is open"

    def _workers_in(self, path: str, topic: str) -> Iterator[str]:
        """Yield who works in a worktree, for another thread or without one."""
        for record in records.all_records(self.layout):
            is_there = record.worktree == path and record.topic != topic
            if is_there and (record.is_alive or record.is_watched):
                yield f"{record.agent} works in its worktree on {record.topic}"
        here = reading.place_of(self.layout, path)
        for note in reading.current_notes(self.layout, self.now_ms):
            # A note may have come from anywhere: only a process that runs here counts.
            is_running = sessions.state(note.session) == sessions.RUNNING
            if note.place == here and is_running:
                yield f"{note.agent} works in its worktree"
        loop = activity.loop(activity.StateFiles(), path, self.now_ms)
        if loop.get("status") in activity.WORKING and "orphaned" not in loop:
            yield "a loop runs in its worktree"
        for program in agents_in(path):
            yield f"{program} runs in its worktree"

    def _check_files(self, thread: Thread, place: RunPlace | None) -> None:
        """Raise ConflictError if an entry from elsewhere has chosen the branch that an
        agent would work on: its files decide what a client runs."""
        state = thread.state
        if place is None or place.start or parse(state.ball or "").seat:
            return
        if place.branch not in {state.branch, state.name} or place.branch in {
            state.topic,
            self.request.start,
        }:
            return
        origin = self._provenance.of_branch(thread, place.branch)
        if not may(RUN, origin, lambda: senders.ANYONE in self.own.run_from):
            topic, branch = quoted(state.name), quoted(place.branch)
            raise ConflictError(
                f"it {origin.text('said')} that it belongs to "
                f"{one_line(place.branch)}. "
                f"To have it started there: wc run {topic} --from {branch}"
            )

    def _places_of(self, agent: str) -> Places:
        if agent not in self._places:
            repository = self.context.place.repository
            if repository is None:
                raise NotFoundError("The threads do not belong to a git repository")

            def seats_of(path: str) -> tuple[str, ...]:
                return self.agent_context(agent, path).identity.name.seats

            self._places[agent] = Places(
                repository,
                self.context.env,
                self.request.start,
                seats_of,
            )
        return self._places[agent]

    @property
    def places(self) -> Places:
        """The worktrees of the repository."""
        return self._places_of("")

    def author_in(self, agent: str, place: RunPlace) -> str:
        """Return the name under which an agent will write in a place, which may not
        exist yet."""
        if not place.add:
            return self.agent_context(agent, place.path).identity.author
        name = self.agent_context(agent, "").identity.name
        has_seat = self.context.settings.seats != OFF
        current = self.context.place.repository
        seat = repository.change_of(place.path)
        if current is not None and not seat:
            planned = current._replace(gitdir="", top=place.path)
            seat = repository.client_change(planned, for_good=True)
        seat = seat or place.branch
        return str(name._replace(seat=seat if has_seat else ""))

    def agent_context(self, agent: str, folder: str) -> Context:
        """Return the context of an agent in a folder (empty: the current one)."""
        env = commands.variables(self.context.env, agent)
        return Context(env, folder or self.context.cwd, Asked(agent))


def agents_in(folder: str) -> Iterator[str]:
    """Yield the programs of agents that run in a folder, as far as ``/proc`` says."""
    programs = {row.headless[0] for row in agents.AGENTS if row.headless}
    try:
        pids = [name for name in os.listdir("/proc") if name.isdecimal()]
    except OSError:
        return
    for pid in pids:
        try:
            if os.readlink(f"/proc/{pid}/cwd") != folder:
                continue
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                words = file.read(4096).split(b"\0")
        except OSError:
            continue
        running = {os.path.basename(os.fsdecode(word)) for word in words[:2]}
        yield from sorted(running & programs)
