"""Publishing a branch only if its author still has the claims.

The branch and the renewed claims go in one atomic push. The leases name what this clone
believes to have, so the remote refuses a holder that has lost a claim, however late its
push arrives.
"""

from __future__ import annotations

import os

from wc_cli.edits.claims.transactions import LostRaceError
from wc_cli.ledger.sync.wire import Wire
from wc_cli.ledger.sync.wireerrors import (
    LeaseError,
    RefusedError,
    RejectedError,
    UnreachableError,
    WireError,
)
from wc_core.base.errors import ConflictError, FencedError, OfflineError
from wc_core.base.lean import contextlib
from wc_core.base.phrases import quoted
from wc_core.base.values import NamedTuple
from wc_core.edits.claims import rules
from wc_core.edits.claims.ids import parse
from wc_core.ledger.git import config

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from wc_cli.edits.claims.holding import Holding
    from wc_cli.edits.claims.remote import ClaimsRemote
    from wc_core.base.errors import WcError
    from wc_core.edits.claims.book import Book
    from wc_core.edits.claims.record import Claim
    from wc_core.edits.claims.rules import RefMove
    from wc_core.ledger.git.remotes import Remote
    from wc_core.ledger.git.repository import Repository

_TRIES = 5
_ELSEWHERE = "the claims are not on that remote"


class Publication(NamedTuple):
    """A branch at a remote, and the commit to move it to."""

    remote: Remote
    branch: str
    commit: str

    @property
    def refspec(self) -> str:
        """The branch, for git-push(1)."""
        return f"{self.commit}:refs/heads/{self.branch}"


class Published(NamedTuple):
    """The claims that were renewed with the push; ``weakness`` is why the remote did
    not compare them, and empty if it did."""

    claims: tuple[str, ...]
    weakness: str


def publish(holding: Holding, publication: Publication) -> Published:
    """Push a branch together with the claims of the holder in this worktree.

    Raises FencedError if a claim was lost, ConflictError if the branch has moved or the
    remote refuses it, and OfflineError. The remote's branch has not moved then.
    """
    registry = holding.registry
    problem: LeaseError | None = None
    with registry.changing(holding.seconds):
        for _ in range(_TRIES):
            book = registry.read()
            _refuse_lost(holding, book)
            own = holding.own(book)
            try:
                weakness = _push(holding, publication, own)
            except LeaseError as error:
                # We lost a claim, or others changed theirs in the meantime.
                problem = error
                _fetch_claims(holding)
                continue
            except RejectedError as error:
                raise _behind_error(publication) from error
            except WireError as error:
                raise _wire_error(error, publication) from error
            holding.remember(registry.read())
            return Published(tuple(claim.id for claim in own), weakness)
    raise ConflictError(
        f"{problem}, or other pushes were under way.",
        "Nothing was published. Try again.",
    ) from problem


def _push(holding: Holding, publication: Publication, own: Sequence[Claim]) -> str:
    """Push a branch with the holder's renewed claims. Returns why the remote did not
    compare them; empty if it did. Raises WireError, LostRaceError."""
    registry, remote = holding.registry, holding.remote
    renewed = [holding.renewed(claim) for claim in own]
    moves = registry.store(rules.plan_renewal(renewed).changes)
    if remote is None or remote.remote.name != publication.remote.name:
        _push_alone(holding, publication)
        registry.move(moves)
        return _ELSEWHERE
    if moves:
        return _push_fenced(holding, remote, publication, moves)
    _push_alone(holding, publication)
    return ""


def _push_fenced(
    holding: Holding,
    remote: ClaimsRemote,
    publication: Publication,
    moves: Sequence[RefMove],
) -> str:
    """Push a branch with the claims. A remote that takes none gets the branch alone,
    and the reason is returned. Raises WireError, LostRaceError."""
    refspecs = (publication.refspec,)
    try:
        remote.push(moves, is_claiming=False, branch=refspecs, hooks=_hooks(holding))
    except RefusedError:
        base = remote.base()
        if any(move.ref in base for move in moves):
            raise  # it has taken claims before: it compares them only if they are sent
        _push_alone(holding, publication)
        holding.registry.move(moves)
        return _ELSEWHERE
    return remote.weakness()


def _behind_error(publication: Publication) -> ConflictError:
    """The error if others have moved the branch."""
    return ConflictError(
        f"{publication.remote.label} has commits on {publication.branch} that are not "
        "in yours.",
        "Nothing was published. Get them with git pull --rebase, then run again: "
        f"wc publish {publication.remote.name} {publication.branch}",
    )


def _wire_error(error: WireError, publication: Publication) -> WcError:
    """The error if a push failed for another reason than a claim."""
    name, branch = quoted(publication.remote.name), quoted(publication.branch)
    hint = (
        f"To see everything that git and your hooks print: git push --dry-run {name} "
        f"HEAD:{branch}"
    )
    if isinstance(error, UnreachableError):
        return OfflineError(
            f"{error}. As far as wc knows, nothing was published.",
            f"When it is back, check with: git fetch {name}",
        )
    return ConflictError(f"{error}. Nothing was published.", hint)


def _refuse_lost(holding: Holding, book: Book) -> None:
    """Raise FencedError if the holder had a claim that is no longer theirs."""
    lost = holding.memory().lost({claim.id for claim in holding.own(book)})
    if lost:
        raise _fenced_error(holding, book, lost)


def _fetch_claims(holding: Holding) -> None:
    """Fetch the claims if the remote still answers. If not, the next push reports
    it."""
    if holding.remote is not None:
        with contextlib.suppress(WireError, LostRaceError):
            holding.remote.fetch()


def _fenced_error(holding: Holding, book: Book, lost: list[str]) -> FencedError:
    rivals = [
        claim
        for claim_id in lost
        for claim in book.overlapping(parse(claim_id))
        if not holding.holder.is_mine(claim.holder) and book.binds(claim)
    ]
    by = f"; {rivals[0].holder} has it now" if rivals else ""
    return FencedError(
        f"You have lost the claim on {', '.join(lost)}{by}.",
        "Nothing was published. See what has changed there, then claim what you "
        "still need again (wc claim), or give up your claims: wc release --all",
    )


def _push_alone(holding: Holding, publication: Publication) -> None:
    """Push a branch to a remote that has no claims."""
    registry = holding.registry
    git, repository = registry.git, registry.repository
    wire = Wire(git, publication.remote, repository)
    wire.push_refs([publication.refspec], {}, _hooks(holding))


def _hooks(holding: Holding) -> str:
    return users_hooks(holding.registry.repository, holding.registry.env)


def users_hooks(repository: Repository, env: Mapping[str, str]) -> str:
    """The folder of the user's hooks, for what publishes the user's code."""
    configured = config.get("core.hooksPath", repository, env)
    if configured.startswith("~"):
        return configured  # git knows whose home folder it is
    folder = configured or f"{repository.common}/hooks"
    return os.path.join(repository.top, folder)
