"""What is done beside an exchange with a remote for entries that travel otherwise:
harvest, and, in a sandbox, carry what could not be pushed."""

from __future__ import annotations

import os

from wc_cli.bridges.carry import harvesting, roads
from wc_cli.bridges.carry.harvesting import Harvest
from wc_cli.ledger.branch import commits
from wc_cli.ledger.branch.git import Git, GitError
from wc_cli.ledger.settle import settler
from wc_cli.ledger.sync.exchanger import PUSH_ALWAYS, exchange_error
from wc_cli.ledger.sync.wire import Wire
from wc_cli.ledger.sync.wireerrors import WireError
from wc_core.base import sandboxes
from wc_core.base.errors import (
    ConflictError,
    LockTimeoutError,
    OfflineError,
    StorageError,
    WcError,
)
from wc_core.base.layout import BRANCH, Layout
from wc_core.base.lean import contextlib
from wc_core.base.phrases import counted
from wc_core.base.text import one_line
from wc_core.base.values import NamedTuple
from wc_core.ledger.carry import modes
from wc_core.ledger.configuration.keys import AUTO, OFF
from wc_core.ledger.git import freshness, remotes
from wc_core.ledger.git import repository as repositories
from wc_core.ledger.git.repository import Repository
from wc_core.ledger.threads import settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from wc_cli.ledger.sync.exchange import Exchange, Waiting
    from wc_cli.ledger.sync.exchanger import Exchanger
    from wc_cli.ledger.sync.wire import BranchesFetch
    from wc_core.ledger.git.carried import Carried
    from wc_core.ledger.git.remotes import Remote
    from wc_core.ledger.threads.settings import Settings

_SETTLE_SECONDS = 30.0
_NOTHING = Harvest({}, {})
# The threads get all of less time than this.
_LITTLE_TIME = 3.0


class _AgentsRemote(NamedTuple):
    """Where the branches of agents are: the repository, its remote, and what to
    fetch."""

    code: Repository
    remote: Remote
    refspecs: tuple[str, ...]


def _source(root: str, env: Mapping[str, str], *, forced: bool) -> _AgentsRemote | None:
    """What to harvest from; ``None`` if that is not wanted, or not clear."""
    rules = settings.load(root, env)
    code = repositories.find(root)
    if code is None or not (forced or modes.harvests(rules)):
        return None
    name = harvesting.code_remote(code, env)
    refspecs = harvesting.refspecs(rules, name)
    if not (name and refspecs):
        return None
    return _AgentsRemote(code, remotes.by_name(code, env, name), tuple(refspecs))


def _start_fetch(
    root: str, env: Mapping[str, str], source: _AgentsRemote, waiting: Waiting
) -> BranchesFetch:
    git = Git(root, env, until=waiting.deadline)
    return Wire(git, source.remote, source.code).start_fetch(source.refspecs)


@contextlib.contextmanager
def _errors_for_user(source: _AgentsRemote) -> Iterator[None]:
    """Turn an error of git in the block into the error for the user."""
    try:
        yield
    except WireError as error:
        raise exchange_error(source.remote, error) from error
    except GitError as error:
        message = f"The branches of agents could not be read: {error}."
        raise StorageError(message, "See what is wrong: wc doctor") from error


def exchange(
    exchanger: Exchanger,
    *,
    new_store: bool = False,
    push: str = PUSH_ALWAYS,
    forced: bool = False,
) -> Exchange:
    """Exchange, and harvest, as the settings say, or because it is ``forced``.
    What was harvested is sent, too. Both wait for the remote at the same time.

    A remote that refuses to be pushed to can still be harvested from. Raises what
    `Exchanger.exchange` does; and, only if ``forced``, why nothing could be harvested.
    """
    root, env, waiting = exchanger.layout.root, exchanger.env, exchanger.waiting
    source = _source(root, env, forced=forced)
    if source is None or (waiting.seconds < _LITTLE_TIME and not forced):
        return exchanger.exchange(new_store=new_store, push=push)
    # If the remote hangs, there is still time to say so of the threads.
    half = waiting._replace(deadline=waiting.deadline - waiting.seconds / 2)
    with _errors_for_user(source):
        fetch = _start_fetch(root, env, source, half)
    with fetch:
        exchanger.before_fetch = fetch.wait
        try:
            result = exchanger.exchange(new_store=new_store, push=push)
        except OfflineError:
            if refusal(exchanger.layout):
                _harvest(exchanger, source, fetch, forced=forced)
            raise
        harvested = _harvest(exchanger, source, fetch, forced=forced)
    if harvested.branches:
        result = result.followed_by(exchanger.exchange(push=push))
    return result._replace(harvested=harvested.branches).with_notes(*harvested.notes)


def _harvest(
    exchanger: Exchanger, source: _AgentsRemote, fetch: BranchesFetch, *, forced: bool
) -> Harvest:
    """Harvest what was fetched; unless ``forced``, as far as possible."""
    problems = () if forced else (OfflineError, StorageError, LockTimeoutError)
    root, env = exchanger.layout.root, exchanger.env
    with contextlib.suppress(*problems), _errors_for_user(source):
        fetch.result()
        return harvesting.harvest(root, env, source.code, source.remote.name)
    return _NOTHING


def refusal(layout: Layout) -> str:
    """Why the last exchange failed, if trying again soon does not help; otherwise
    empty."""
    state = freshness.load(layout)
    return state.problem if state is not None and state.lasting else ""


def _carry(
    root: str, code: Repository, env: Mapping[str, str], *, dry_run: bool
) -> Carried:
    """Commit what is on disk, and carry what no remote has. Raises what
    `carrying.carry` does, and StorageError."""
    from wc_cli.bridges.carry import carrying  # 5 ms, only where nothing can be pushed

    settler.settle(root, env, _SETTLE_SECONDS)
    try:
        return carrying.carry(root, code, env, dry_run=dry_run)
    except GitError as error:
        message = f"The entries could not be carried: {error}."
        raise StorageError(message, "Your entries are safe here.") from error


def carry_if_wanted(
    root: str,
    code: Repository | None,
    env: Mapping[str, str],
    *,
    forced: bool = False,
    dry_run: bool = False,
) -> Carried | None:
    """Carry what no remote has, if it is ``forced`` or it is wanted without
    anyone's word: in a sandbox, and only if the remote has the branch of the threads or
    there is none.

    Returns what travels, maybe nothing; ``None`` if it is not wanted. Raises
    ConflictError if there is no way out now, StorageError, and LockTimeoutError.
    """
    mode = modes.mode(settings.load(root, env), env)
    if code is None or mode == OFF or (mode != AUTO and not forced):
        return None
    names = remotes.names(code, env)
    shares = repositories.remote_branches(code, BRANCH)
    if names and not shares and not forced:
        return None
    return _carry(root, code, env, dry_run=dry_run)


def forget_carried(root: str, code: Repository | None, env: Mapping[str, str]) -> None:
    """Forget what travelled, once everything has arrived."""
    if code is None or not os.path.exists(Layout(root).carried):
        return
    from wc_cli.bridges.carry import carrying  # as in `_carry`

    with contextlib.suppress(WcError, GitError):
        if not carrying.unsent(root, env).lines:
            carrying.carry(root, code, env)


def offer(code: Repository | None, env: Mapping[str, str], rules: Settings) -> str:
    """How entries can travel from here with someone's word; empty if they cannot."""
    if code is None or modes.mode(rules, env) == OFF:
        return ""
    with contextlib.suppress(ConflictError):
        road = roads.find(code, env, rules.agents_branches)
        if road.remote:
            branch = f"{one_line(road.branch)}, which is checked out here"
            return f"They can travel with {branch}: wc sync --carry"
    return ""


def main_worktree(root: str) -> Repository | None:
    """The main worktree of the code beside the store at ``root``, where an agent in a
    sandbox works."""
    checkout = commits.checkout_at(root)
    folder, base = os.path.split(checkout.common)
    if base != ".git":
        return None
    return Repository(checkout.common, checkout.common, folder)


class Unsaved(NamedTuple):
    """A ``sentence`` about entries that exist only here, which ends with what saves
    them. ``key`` changes if there are others."""

    sentence: str
    key: str


def unsaved(
    root: str, code: Repository | None, env: Mapping[str, str]
) -> Unsaved | None:
    """The entries that exist only in this sandbox; ``None`` if there are none, or on an
    ordinary machine. What can be carried is carried first."""
    if code is None or sandboxes.current(env) is None:
        return None
    try:
        carried = carry_if_wanted(root, code, env)
        if carried is not None and carried.ids:
            return _of_carried(carried, code, env)
        reason = ""
    except WcError as error:
        reason = f" ({error.message.rstrip('.')})"
    from wc_cli.bridges.carry import carrying  # as in `_carry`

    try:
        unsent = carrying.unsent(root, env)
    except (WcError, GitError) as error:
        sentence = f"It is not known which entries are only on this machine{reason}"
        return Unsaved(f"{sentence}: {one_line(str(error))}", sentence)
    count = len(unsent.lines) + unsent.uncarried
    if not count:
        return None
    entries = counted(count, "entry exists", "entries exist")
    sentence = f"{entries} only on this machine{reason}: wc sync --carry"
    return Unsaved(sentence, f"{count}{reason}")


def _of_carried(
    carried: Carried, code: Repository, env: Mapping[str, str]
) -> Unsaved | None:
    if carried.outbox:
        words = ("status", "--porcelain", "--untracked-files=all", "--")
        try:
            if not Git(carried.top, env).run(*words, carried.outbox):
                return None
        except GitError:
            pass
    elif not carried.has_to_be_pushed(code):
        return None
    key = carried.carrier or carried.tip
    return Unsaved(carried.sentence(code), key)
