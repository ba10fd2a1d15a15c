"""Balls for seats that no worktree has, in this clone or another one here."""

from __future__ import annotations

from wc_core.attention.status.identityfiles import MAIN_WORKTREE, keys_in
from wc_core.base.agents import row_of
from wc_core.base.errors import WcError
from wc_core.base.layout import Layout, key_of
from wc_core.base.lean import contextlib, functools
from wc_core.base.names import Directory, fold, is_in_cloud, near_names, parse
from wc_core.base.phrases import quoted
from wc_core.base.text import one_line
from wc_core.ledger.configuration.keys import OFF
from wc_core.ledger.git import config, seats
from wc_core.ledger.git.discovery import BRANCH_STORE
from wc_core.ledger.git.repository import has_branch
from wc_core.ledger.provenance import HERE, Provenance

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from wc_cli.run.context import Context
    from wc_core.attention.inbox.stores import InboxStore
    from wc_core.ledger.git.repository import Repository
    from wc_core.ledger.threads.model import State


# The main worktree's, if the settings give it one.
_MAIN = "main"
_REASON = "no worktree has its seat"


def cloud_start(holder: str, topic: str) -> str:
    """Return the command with which a person starts an agent in the cloud for the ball
    of a thread, or only its prompt; empty if ``holder`` is none."""
    name = parse(holder)
    if not is_in_cloud(name):
        return ""
    row = row_of(Directory().canonical(name).agent)
    words = row.cloud if row is not None else ()
    thread = quoted(topic)
    prompt = f"The ball of the thread {thread} is yours. Begin with: wc read {thread}"
    return " ".join(map(quoted, (*words, one_line(prompt))))


class LostSeats:
    """The seats that no worktree has, as far as can be seen from a folder."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._checked: dict[str, bool] = {}

    def lost(self, topics: Iterable[str]) -> Iterator[State]:
        """Yield the threads among these whose ball is for such a seat."""
        for topic in topics:
            with contextlib.suppress(WcError):  # another finding says why
                state = self._context.reader.snapshot(topic).state
                if self.has(state.ball or "") and not self._is_elsewhere(state):
                    yield state

    def all_lost(self) -> Iterator[State]:
        """Yield all of them. Only their threads are read."""
        balls = self._context.balls
        lost = [folder for folder in balls.folders() if self.has(key_of(folder))]
        return self.lost(ball.topic for ball in balls.held(lost))

    def has(self, holder: str) -> bool:
        """Return whether a ball for ``holder`` is for such a seat. Seats of other
        people's agents, and those in the cloud, are not known here."""
        if "@" not in holder:
            return False
        if holder not in self._checked:
            name, own = parse(holder), self._context.identity.own_tag
            is_own = not name.tag or fold(name.tag) == fold(own)
            is_agents = self._context.settings.directory.is_agent(name)
            is_seat = name.seat != "" and is_agents and is_own and not is_in_cloud(name)
            self._checked[holder] = is_seat and not self._is_known(name.seat)
        return self._checked[holder]

    def command(self, state: State) -> str:
        """Return the command that moves the ball of a thread: to the worktree with its
        branch, to one with a similar name, or to any of the same agent."""
        name, branches = parse(state.ball or ""), self._branches
        near = [seat for seat, branch in branches.items() if branch == state.branch]
        near = near or near_names(name.seat, [*branches], 1)
        to = name._replace(seat=near[0] if near else "", tag="")
        words = (one_line(state.name), "--to", str(to), "--reason", _REASON)
        return f"wc handoff {' '.join(map(quoted, words))}"

    @property
    def _repository(self) -> Repository | None:
        """The repository, if its worktrees are those in which people work."""
        place, rules = self._context.place, self._context.settings
        is_local = rules.seats != OFF and not rules.directory.in_cloud
        return place.repository if is_local and place.kind == BRANCH_STORE else None

    @functools.cached_property
    def _branches(self) -> dict[str, str]:
        """The branch of each worktree, by the name of its seat."""
        trees = seats.trees(self._repository) if self._repository else []
        return {seats.current_name(tree): tree.working_branch for tree in trees}

    def _is_known(self, seat: str) -> bool:
        repository = self._repository
        if repository is None or seat == _MAIN:
            return True
        # The seat of a session is in that of a worktree.
        named = {fold(seat), fold(seat).rpartition(".")[0]}
        if named & _names_in(repository):
            return True
        # A role is not named after a branch.
        if fold(seat) in self._roles and not has_branch(repository, seat):
            return True
        return any(named & _names_in(clone) for clone in self._clones)

    @functools.cached_property
    def _roles(self) -> set[str]:
        """The seats under which agents have spoken in worktrees that are still there,
        such as ``reviewer``: not all are named after worktrees."""
        layout = Layout(self._context.place.root)
        repository = self._repository
        trees = seats.trees(repository) if repository is not None else []
        names = (MAIN_WORKTREE, *(tree.worktree_id for tree in trees))
        keys = (key for name in names for key in keys_in(layout, name).values())
        return {fold(parse(key).seat) for key in keys}

    @functools.cached_property
    def _clones(self) -> list[Repository]:
        """The other clones on this machine: those with the same remote, or that are the
        remote."""
        # 5 ms, only for a seat that is not known here
        from wc_core.attention.inbox import stores

        env, own = self._context.env, self._repository
        all_stores: list[InboxStore] = []
        with contextlib.suppress(WcError):
            all_stores = stores.known_stores(self._context.cwd, env)
        clones = (store.place.repository for store in all_stores if store.place)
        return [
            clone
            for clone in clones
            if own is not None and clone is not None and clone.common != own.common
            if _addresses(clone, env) & _addresses(own, env)
        ]

    def _is_elsewhere(self, state: State) -> bool:
        """Return whether the seat is one of another machine, as far as is known: the
        holder has only written there, or got the ball there and may be anyone's."""
        reader, directory = self._context.reader, self._context.settings.directory
        holder, thread = parse(state.ball or ""), reader.thread(state.topic)
        provenance = Provenance(reader.layout)
        if not holder.tag and provenance.of_ball(thread).kind != HERE:
            return True
        key = directory.key(holder._replace(tag=""))
        kinds = [
            provenance.of(thread, entry.id).kind
            for entry in thread.entries
            if directory.key(parse(entry.agent)._replace(tag="")) == key
        ]
        return bool(kinds) and HERE not in kinds


def _names_in(repository: Repository) -> set[str]:
    names = seats.all_names(repository).values()
    return {fold(name) for tree in names for name in tree}


def _addresses(repository: Repository, env: Mapping[str, str]) -> set[str]:
    remotes = config.values("remote", "url", repository, env).values()
    addresses = {url.removesuffix("/.git") for urls in remotes for url in urls}
    return {*addresses, repository.common.removesuffix("/.git")}
