"""Where a session in the cloud begins: a branch that the remote has, or gets by the
person's word."""

from __future__ import annotations

from wc_cli.agents.runs import commands
from wc_cli.bridges.carry import harvesting, roads
from wc_cli.edits.claims.publishing import users_hooks
from wc_cli.ledger.branch.git import Git, GitError
from wc_cli.ledger.sync import routes
from wc_cli.ledger.sync.exchange import Waiting
from wc_cli.ledger.sync.exchanger import exchange_error
from wc_cli.ledger.sync.wire import Wire
from wc_cli.ledger.sync.wireerrors import WireError
from wc_core.base.errors import ConflictError, NotFoundError
from wc_core.base.layout import BRANCH
from wc_core.base.names import parse
from wc_core.base.text import one_line
from wc_core.base.values import NamedTuple
from wc_core.ledger.carry import modes
from wc_core.ledger.git import config, remotes
from wc_core.ledger.git import repository as repositories

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wc_cli.agents.runs.places import Places
    from wc_cli.run.context import Context
    from wc_core.base.agents import CloudCommands
    from wc_core.ledger.configuration.preferences import Preferences
    from wc_core.ledger.git.remotes import Remote
    from wc_core.ledger.threads.model import State


class CloudPlan(NamedTuple):
    """How a session in the cloud is started: with the ``branch`` of a ``remote``, at
    this ``commit``, which is pushed first if that ``is_pushed``. ``command`` runs in
    ``folder`` (empty: in one of ours) and lacks only the prompt."""

    agent: str
    remote: Remote
    branch: str
    commit: str
    is_pushed: bool
    folder: str
    command: tuple[str, ...]

    @property
    def refspec(self) -> str:
        """What is pushed."""
        return f"{self.commit}:refs/heads/{self.branch}"


class CloudPlanner:
    """Makes plans for one look at the threads of a store. The remote is asked once,
    when the first plan needs it."""

    def __init__(
        self, context: Context, places: Places, own: Preferences, *, may_push: bool
    ) -> None:
        self._context = context
        self._places = places
        self._own = own
        self._may_push = may_push
        self._repository = places.repository
        self._git = Git(self._repository.common, context.env, bare=True)
        self._commits: dict[str, str] | None = None

    def plan(self, agent: str, state: State, start: str) -> CloudPlan:
        """Return how the session for a thread is started, from the branch ``start``
        (empty: the thread's). Raises a WcError: it cannot be."""
        client = commands.cloud_commands_of(agent, self._own)
        commands.require_program(client.start, self._context.env)
        remote = self._remote()
        command = self._filled(agent, client, remote)
        branch = self._branch(state, start)
        commit, is_pushed = self._commit(remote, branch)
        folder = ""
        if commands.BRANCH not in "".join(client.start):
            folder = self._folder(branch)
        words = tuple(word.replace(commands.BRANCH, branch) for word in command)
        return CloudPlan(agent, remote, branch, commit, is_pushed, folder, words)

    def _remote(self) -> Remote:
        """Return the remote that sessions clone. Raises ConflictError if there is none,
        or if it lacks the threads."""
        env = self._context.env
        name = harvesting.code_remote(self._repository, env)
        if not name:
            has_any = remotes.names(self._repository, env)
            problem = "several remotes, none of them origin" if has_any else "no remote"
            raise ConflictError(
                f"This repository has {problem}: no session in the cloud can clone it.",
                "Add the one that it clones: git remote add origin URL",
            )
        if routes.shared_remote(self._context.store_repository, env) is None:
            raise ConflictError(
                f"{one_line(name)} does not have the threads yet.",
                "Share them: wc sync",
            )
        return remotes.by_name(self._repository, env, name)

    def _filled(
        self, agent: str, client: CloudCommands, remote: Remote
    ) -> tuple[str, ...]:
        """Return the command with the person's environment. Raises ConflictError if it
        needs one and there is none."""
        environment = self._own.run_environment
        if commands.ENVIRONMENT in "".join(client.start) and not environment:
            raise ConflictError(
                f"{agent} needs the name of its environment in the cloud.",
                "Name it: wc config --global set run.environment ID",
            )
        urls = config.values("remote", "url", self._repository, self._context.env)
        slug = _slug(urls.get(remote.name, [""])[-1])
        environment = environment.replace(commands.REPOSITORY, slug)
        return tuple(
            word.replace(commands.ENVIRONMENT, environment) for word in client.start
        )

    def _branch(self, state: State, start: str) -> str:
        """Return the branch that a session begins with."""
        if start and not self._exists(start):
            raise NotFoundError(
                f"There is no branch {one_line(start)}.", "See them: git branch --all"
            )
        # An answer for a session that has ended goes on with its branch.
        seat = parse(state.ball or "").seat
        patterns = self._context.settings.agents_branches
        seat = seat if modes.is_agents(seat, patterns) else ""
        for branch in (start, seat, state.branch):
            if branch not in {"", BRANCH} and self._exists(branch):
                return branch
        base = self._places.base.name
        remote = harvesting.code_remote(self._repository, self._context.env)
        if not repositories.has_branch(self._repository, base):
            base = roads.default_branch(self._repository, remote)
        if not base:
            raise ConflictError(
                "There is no branch that a session could begin with.",
                "Name one: --from BRANCH",
            )
        return base

    def _exists(self, branch: str) -> bool:
        is_local = repositories.has_branch(self._repository, branch)
        return is_local or branch in self._remote_commits()

    def _commit(self, remote: Remote, branch: str) -> tuple[str, bool]:
        """Return the commit of a branch that a session begins with, and whether it is
        to be pushed. Raises ConflictError if that is needed and was not allowed, or is
        not possible."""
        ours = repositories.resolve(self._repository, f"refs/heads/{branch}")
        theirs = self._remote_commits().get(branch, "")
        name, label = one_line(branch), one_line(remote.label)
        if not (ours or theirs):
            raise NotFoundError(
                f"There is no branch {name}.", "Name another one: --from BRANCH"
            )
        if not ours or ours == theirs:
            return theirs, False
        tracked = repositories.resolve(
            self._repository, f"refs/remotes/{remote.name}/{branch}"
        )
        if theirs and any(self._has(tip, ours) for tip in (theirs, tracked)):
            return theirs, False
        if theirs and not self._has(ours, theirs):
            raise ConflictError(
                f"The branch {name} has other commits at {label}.",
                f"Get them first: git pull {label} {name}",
            )
        if not self._may_push:
            state = f"has an older {name}" if theirs else f"lacks the branch {name}"
            raise ConflictError(
                f"{label} {state}.",
                f"Push it: git push {label} {name}; to have wc do that: --push",
            )
        return ours, True

    def _has(self, commit: str, ancestor: str) -> bool:
        """Return whether a commit is here and has another one in its history."""
        if not commit:
            return False
        try:
            self._git.run("merge-base", "--is-ancestor", ancestor, commit)
        except GitError:
            return False
        return True

    def _remote_commits(self) -> dict[str, str]:
        """Return the branches of the remote, with their commits. Raises OfflineError,
        StorageError."""
        if self._commits is None:
            remote = self._remote()
            wire = _wire(self._context, remote, self._places)
            try:
                self._commits = wire.branches()
            except WireError as error:
                raise exchange_error(remote, error) from error
        return self._commits

    def _folder(self, branch: str) -> str:
        """Return the worktree with a branch. Raises NotFoundError."""
        for tree in self._places.trees:
            if tree.branch == branch:
                return tree.path
        raise NotFoundError(
            f"The command starts a session on the branch of its folder, and no "
            f"worktree has {one_line(branch)}.",
            f"Make one: git worktree add ../NAME {one_line(branch)}",
        )


def push(context: Context, places: Places, plan: CloudPlan) -> None:
    """Push the branch of a plan, if it is to be pushed, with the person's own hooks.
    Raises OfflineError, StorageError."""
    if not plan.is_pushed:
        return
    hooks = users_hooks(places.repository, context.env)
    wire = _wire(context, plan.remote, places)
    try:
        wire.push_refs([plan.refspec], {}, hooks)
    except WireError as error:
        raise exchange_error(plan.remote, error) from error


def _wire(context: Context, remote: Remote, places: Places) -> Wire:
    until = Waiting.at_most(context.settings.limit).deadline
    git = Git(places.repository.common, context.env, bare=True, until=until)
    return Wire(git, remote, places.repository)


def _slug(url: str) -> str:
    """Return the owner and the name of the repository at an address."""
    parts = url.removesuffix("/").removesuffix(".git").replace(":", "/").split("/")
    return "/".join(parts[-2:])
