"""The news for an agent's session at a prompt and when it stops."""

from __future__ import annotations

import os
import time
from itertools import chain, islice

from wc_cli.agents.briefing import sessions
from wc_cli.agents.briefing.sessions import ASKED, CLAIM, UNSAVED, Session
from wc_cli.ledger.store.localfiles import LocalFiles
from wc_core.attention.status.balls import (
    folders_of,
    in_order,
    own_folders_of,
    without,
)
from wc_core.attention.status.lastvisits import visit_file
from wc_core.base import sandboxes
from wc_core.base.errors import WcError
from wc_core.base.lean.contextlib import suppress
from wc_core.base.lean.functools import cached_property
from wc_core.base.text import one_line
from wc_core.ledger.threads.model import BLOCKED
from wc_core.ledger.threads.ways import way

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from wc_cli.run.context import Context
    from wc_core.attention.status.balls import BallStatus, HeldBall
    from wc_core.base.layout import Layout

# File times are coarser than our clock. Told news is remembered for longer than the
# difference.
_MARGIN_NS = 2_000_000_000
_NAMED = 5
# Whose worktrees are in a folder of the repository that is named like this.
_CLIENTS = ("claude", "gemini", "qwen")
# Folders of what programs fetch or make again.
_REMADE = frozenset(
    {"node_modules", "__pycache__", ".venv", "venv"}
    | {".pytest_cache", ".mypy_cache", ".ruff_cache"}
)
# The most balls in a reminder; the thread of each is read.
_MOST = 20
# At a prompt, the threads of at most so many unknown balls are read. After an import
# there may be thousands, and the hook would run out of time.
_MOST_READ = 256


class SessionView:
    """The store as one session sees it, and the record of what it already knows."""

    def __init__(self, context: Context, path: str) -> None:
        self.viewer = context.viewer
        self.reader = context.reader
        self.layout: Layout = self.reader.layout
        self.path = path
        self.balls = context.balls
        # The folders of balls that are the agent's or offered to it; and of those that
        # are the agent's.
        self.own = folders_of(self.viewer)
        self.named = own_folders_of(self.viewer)

    @cached_property
    def names(self) -> dict[str, list[str]]:
        """The names of the balls in the agent's ``own`` folders, as many as a session
        has on record."""
        return self.balls.names(self.own, latest=sessions.MOST)

    @cached_property
    def questions(self) -> list[HeldBall]:
        """The open questions to the agent."""
        return self.balls.asked(self.own)

    def note_visit(self) -> None:
        """Record that the agent is here."""
        with suppress(WcError, OSError):
            LocalFiles(self.layout).note_visit(visit_file(self.viewer.key))

    def load_session(self) -> Session | None:
        """Return the session's record; ``None`` for a new session."""
        return sessions.load(self.layout, self.path)

    def save_session(self, session: Session) -> None:
        """Save the session's record."""
        sessions.save(self.layout, self.path, session)

    def with_all_known(
        self, session: Session, threads: Mapping[str, tuple[str, int]] | None = None
    ) -> Session:
        """Return the session with everything current marked as known."""
        now = time.time_ns()
        if threads is None:
            threads = {
                k: ball[:2]
                for k, ball in self.threads_with_news(now - _MARGIN_NS).items()
            }
        balls = {question.name for question in self.questions}
        balls = balls.union(*self.names.values())
        return session._replace(looked_ns=now, threads=threads, balls=frozenset(balls))

    def save_as_known(self, names: frozenset[str]) -> None:
        """Record that the session knows the balls and questions with these names.
        Raises StorageError."""
        session = self.load_session()
        if session is None:
            return
        held = [ball for ball in in_order(self.names) if ball.name in names]
        threads = dict(session.threads)
        for status in self.balls.statuses(held, self.viewer):
            if status.new:
                threads[status.held.topic] = (status.held.since, status.new)
        balls = session.balls | names
        self.save_session(session._replace(threads=threads, balls=balls))

    def threads_with_news(self, since_ns: int) -> dict[str, tuple[str, int, HeldBall]]:
        """Return the threads that changed since then and have NEW entries: by topic,
        the entry that passed the ball and the number of NEW entries."""
        news = {}
        changed = self.balls.changed(since_ns)
        for held, _, new, wrote in self.balls.statuses(changed, self.viewer):
            if new and (held.folder in self.own or wrote):
                news[held.topic] = (held.since, new, held)
        return news


def prompt_news(context: Context, path: str) -> str:
    """Return a line if a ball arrived or entries are NEW since the last time."""
    view = SessionView(context, path)
    view.note_visit()
    session = view.load_session()
    if session is None:
        view.save_session(view.with_all_known(Session()))
        return ""
    if not view.balls.look():
        # There was no time for all threads: the news is told once they are indexed.
        context.note_unindexed(view.balls.freshness.unindexed)
        return ""
    moved = view.threads_with_news(session.looked_ns - _MARGIN_NS)
    threads = {topic: item[:2] for topic, item in moved.items()}
    more_news = [*_new_questions(view, session), *_newly_free(view, session, moved)]
    if not more_news and (not moved or threads == session.threads):
        return ""
    # Saved before printing: otherwise the same news would be repeated forever.
    view.save_session(view.with_all_known(session, threads))
    nothing = ("", 0)
    known_names = session.known(held.name for _, _, held in moved.values())
    news = [
        _news(view, item, arrived=_arrived(view, item[2], known_names))
        for topic, item in moved.items()
        if (before := session.threads.get(topic, nothing))[0] != item[0]
        or before[1] < item[1]
    ]
    news = [*more_news, *news]
    if not news:
        return ""
    unnamed = [f"{len(news) - _NAMED} more"] if len(news) > _NAMED else []
    summary = "; ".join((*news[:_NAMED], *unnamed))
    return f"Watercooler: {summary}. Read it with: wc read TOPIC --new"


def _new_questions(view: SessionView, session: Session) -> list[str]:
    """Return the threads in which the agent was asked something since the last time."""
    known_names = session.known(held.name for held in view.questions)
    unknown = [held for held in view.questions if held.name not in known_names]
    by_topic = {held.topic: held for held in reversed(unknown)}
    return [
        f"{_quoted(topic)}: a question to you{_came(view, held)}"
        for topic, held in reversed(by_topic.items())
    ]


def _came(view: SessionView, held: HeldBall) -> str:
    """Return by which branch a ball or a question came; usually nothing."""
    branch = way(view.layout, held.since)
    return f", via {_quoted(branch)}" if branch else ""


def _quoted(text: str) -> str:
    return f'"{one_line(text)}"'


def _newly_free(
    view: SessionView, session: Session, moved: Mapping[str, object]
) -> list[str]:
    """Return the agent's threads that waited for others last time and can begin now.
    Those with NEW entries are in the news anyway."""
    free = []
    known_names = session.known(chain.from_iterable(view.names.values()))
    unknown = in_order(without(view.names, known_names))
    unread = (held for held in unknown if held.topic not in moved)
    # The longest held first: the ball of a thread that had to wait is not a recent one.
    for held in islice(unread, _MOST_READ):
        try:
            state = view.reader.snapshot(held.topic).state
        except WcError:
            continue
        if state.links:
            # 2 ms, for threads with links
            from wc_core.ledger.planning import plans

            free.append(plans.freed_text(view.reader, state))
    return [one_line(text) for text in free if text]


def _news(view: SessionView, item: tuple[str, int, HeldBall], *, arrived: bool) -> str:
    """Return a thread with news, as its name."""
    held = item[2]
    arrival = f"its ball came to you{_came(view, held)}, " if arrived else ""
    return f"{_quoted(held.topic)}: {arrival}{item[1]} new"


def _arrived(view: SessionView, held: HeldBall, known_names: Collection[str]) -> bool:
    """Return whether the agent has a ball that it didn't have when it last looked."""
    return held.folder in view.own and held.name not in known_names


def stop_reminder(context: Context, path: str, unsaved: Mapping[str, str]) -> str:
    """Return a reminder of what the agent still holds, each only once: balls, questions
    to it, its claims in this worktree, and what is ``unsaved``, see
    `unsaved_work`."""
    view = SessionView(context, path)
    view.note_visit()
    questions = {f"{ASKED}{held.name}": held.topic for held in view.questions}
    claims = {f"{CLAIM}{claim_id}": claim_id for claim_id in _claims(context, view)}
    names = {*questions, *claims, *unsaved}.union(*view.names.values())
    if not names:
        return ""
    session = view.load_session() or Session(time.time_ns())
    balls = chain.from_iterable(view.names.values())
    fresh = without(view.names, session.reminded_of(balls))
    latest = in_order({folder: names[-_MOST:] for folder, names in fresh.items()})
    statuses = view.balls.statuses([*latest][-_MOST:], view.viewer)
    held = [status.held for status in statuses if _is_held(view, status)]
    open_questions = {k: v for k, v in questions.items() if k not in session.reminded}
    claimed = {k: v for k, v in claims.items() if k not in session.reminded}
    lost = [v for k, v in unsaved.items() if k not in session.reminded]
    if not (held or open_questions or claimed or lost):
        return ""
    # Forget what is gone, if that is known.
    reminded = session.reminded & names if view.balls.look() else session.reminded
    reminded |= {ball.name for ball in held}
    # Saved before printing: otherwise the agent could never stop.
    reminded |= {*open_questions, *claimed, *unsaved}
    session = session.with_reminded(reminded)
    view.save_session(session._replace(kept_on_ns=time.time_ns()))
    topics = [ball.topic for ball in held]
    return _reminder(topics, open_questions.values(), claimed.values(), lost)


def unsaved_work(context: Context) -> dict[str, str]:
    """Return what to do about what would be lost with this sandbox or worktree, by a
    key for each: ignored files, and entries, whose key changes with them. Entries are
    carried first, if they can be."""
    return {**_ignored_files(context), **_unsaved_entries(context)}


def _ignored_files(context: Context) -> dict[str, str]:
    """Return what to do about the ignored files of a worktree that a client made: at
    the end it finds no changes there, and deletes it."""
    repository = context.place.repository
    top = repository.top if repository is not None else ""
    client = next((name for name in _CLIENTS if f"/.{name}/worktrees/" in top), "")
    if not client:
        return {}
    names = _ignored_paths(top, context.env)
    text = (
        f"git ignores {_named(names)}, which may be deleted with this worktree at the "
        "end of the session. Copy what is needed"
    )
    return {f"{UNSAVED}ignored": text} if names else {}


def _ignored_paths(top: str, env: Mapping[str, str]) -> list[str]:
    """Return the paths in a worktree that git ignores, of folders only the name, and
    without those that programs make again; none if git cannot read it."""
    from wc_cli.ledger.branch.git import Git, GitError  # 12 ms, only in such worktrees

    words = ("--others", "--ignored", "--exclude-standard", "--directory", "-z")
    try:
        listed = Git(top, env).run("ls-files", *words)
    except GitError:
        return []
    paths = os.fsdecode(listed).split("\0")
    return [path for path in paths if path and not _REMADE & {*path.split("/")}]


def _unsaved_entries(context: Context) -> dict[str, str]:
    if sandboxes.current(context.env) is None:
        return {}
    from wc_cli.bridges.carry.automatic import unsaved  # 30 ms, only in sandboxes

    place = context.place
    found = unsaved(place.root, place.repository, context.env)
    return {f"{UNSAVED}{found.key}": found.sentence} if found is not None else {}


def _claims(context: Context, view: SessionView) -> list[str]:
    """Return the ids of the agent's claims in this worktree."""
    repository = context.place.repository
    if repository is None or not os.path.isdir(view.layout.held):
        return []
    # 12 ms, only where there are claims
    from wc_cli.edits.claims.holding import ClaimHolder, Holding
    from wc_cli.edits.claims.registry import Registry

    registry = Registry(repository, view.layout, context.env)
    holder = ClaimHolder.of(context.viewer, repository, "")
    return [claim.id for claim in Holding(registry, holder, 0).own(registry.read())]


def _is_held(view: SessionView, status: BallStatus) -> bool:
    """Return whether the agent should act on a ball: it was passed to this agent by
    name, or in a thread that it takes part in, and isn't BLOCKED."""
    return status.status != BLOCKED and (
        status.takes_part or status.held.folder in view.named
    )


def _reminder(
    held: Sequence[str],
    open_questions: Iterable[str],
    claimed: Iterable[str],
    lost: Iterable[str],
) -> str:
    sentences = []
    if held:
        first = one_line(held[0])
        sentences.append(
            f"you have the ball of {_named(held)}. If you are done there, "
            f"answer (wc say {first} -m '…') or pass it on (wc handoff {first} "
            "--to NAME)"
        )
    if topics := list(dict.fromkeys(open_questions)):
        first = one_line(topics[0])
        sentences.append(
            f"there is a question to you in {_named(topics)}: wc answer {first} -m '…'"
        )
    if ids := list(claimed):
        sentences.append(
            f"you have claimed {_named(ids)}; when you are done: wc release --all"
        )
    sentences += lost
    return (
        f"Watercooler: {'. Also, '.join(sentences)}. If this is not part of what "
        "you were asked to do, just stop: this reminder comes only once."
    )


def _named(names: Sequence[str]) -> str:
    listed = ", ".join(f'"{one_line(name)}"' for name in names[:_NAMED])
    hidden = len(names) - _NAMED
    return f"{listed} and {hidden} more" if hidden > 0 else listed
