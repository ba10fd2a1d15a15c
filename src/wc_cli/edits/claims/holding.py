"""Claiming, renewing and releasing, for one holder in one worktree.

The store also remembers what a holder has, because the refs don't show who has lost a
claim.
"""

from __future__ import annotations

import os
import time

from wc_cli.edits.claims.transactions import LostRaceError
from wc_cli.ledger.clock import random_between
from wc_cli.ledger.store.localfiles import LocalFiles
from wc_cli.ledger.sync.wireerrors import (
    LeaseError,
    RefusedError,
    SilentError,
    UnreachableError,
    WireError,
)
from wc_core.base.errors import (
    ClaimedError,
    LockTimeoutError,
    NotFoundError,
    OfflineError,
)
from wc_core.base.phrases import counted, quoted
from wc_core.base.times import ago
from wc_core.base.values import NamedTuple
from wc_core.edits.claims import held, ids, rules
from wc_core.edits.claims.record import WRITE, Claim

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from wc_cli.edits.claims.registry import Registry
    from wc_cli.edits.claims.remote import ClaimsRemote
    from wc_core.edits.claims.book import Book
    from wc_core.edits.claims.ids import ClaimId
    from wc_core.edits.claims.record import Claim
    from wc_core.edits.claims.rules import ClaimPlan, IsMine
    from wc_core.ledger.git.repository import Repository
    from wc_core.people.identity.viewer import Viewer

_TRIES = 20
_PAUSE = 0.05
_NONCE_BYTES = 16
_CLAIM_HERE = (
    "Try again; or claim it for this clone, until the remote is back: --local-only"
)
_TAKE_LATER = "Try again when the remote is back."


class ClaimHolder(NamedTuple):
    """The holder of claims: ``name`` as it is written, ``key`` to compare, the session,
    and the worktree by git's name for it. ``is_mine`` returns whether a name is the
    holder's."""

    name: str
    key: str
    session: str
    worktree: str
    branch: str
    head: str
    is_mine: IsMine

    @classmethod
    def of(cls, viewer: Viewer, repository: Repository, session: str) -> ClaimHolder:
        """The participant who works in a worktree, in a session."""
        return cls(
            viewer.identity.author,
            viewer.key,
            session,
            repository.worktree_id,
            repository.working_branch,
            repository.commit,
            viewer.is_me,
        )


class Holding:
    """The claims of one holder, in a registry, and at its remote if there is one.

    ``notes`` for the user say what the remote does not know.
    """

    def __init__(
        self,
        registry: Registry,
        holder: ClaimHolder,
        seconds: float,
        remote: ClaimsRemote | None = None,
    ) -> None:
        self.registry = registry
        self.holder = holder
        self.seconds = seconds
        self.remote = remote
        self.notes: list[str] = []

    def _draft(self, target: ClaimId, claim: Claim, group: str) -> Claim:
        """A claim of this holder on a target, otherwise like ``claim``."""
        holder = self.holder
        return claim._replace(
            id=str(target),
            holder=holder.name,
            session=holder.session,
            worktree=holder.worktree,
            branch=holder.branch,
            head=holder.head,
            nonce=nonce(),
            set=group,
            at=int(time.time()),
        )

    def claim(
        self,
        targets: Iterable[ClaimId],
        like: Claim,
        *,
        takeover: bool = False,
        local_only: bool = False,
    ) -> ClaimPlan:
        """Claim all of the targets, or none. Returns the changes.

        Without the remote, only if it is ``local_only`` and no takeover. Raises
        ClaimedError, OfflineError, LockTimeoutError, StorageError.
        """
        group = nonce()
        wishes = [self._draft(target, like, group) for target in dict.fromkeys(targets)]
        namesakes: dict[str, str] = {}

        def plan(book: Book) -> ClaimPlan:
            planned = rules.plan_claims(
                book, wishes, self.holder.is_mine, takeover=takeover
            )
            if planned.conflicts:
                raise claimed_error(planned.conflicts[0], len(planned.conflicts))
            namesakes.update(self._namesakes(book, wishes))
            return planned

        offline_hint = _TAKE_LATER if takeover else "" if local_only else _CLAIM_HERE
        planned = self._carry_out(plan, offline_hint=offline_hint)
        self.notes += [
            f"{claim_id} was claimed by another session of {name}, too"
            for claim_id, name in namesakes.items()
        ]
        return planned

    def _namesakes(
        self, book: Book, wishes: Iterable[Claim]
    ) -> Iterator[tuple[str, str]]:
        """The claims on the same targets by other sessions of the holder, with the
        name. Such claims do not exclude each other."""
        for wish in wishes:
            for claim in book.overlapping(wish.target):
                is_other = claim.session not in {"", wish.session}
                if is_other and self.holder.is_mine(claim.holder) and book.binds(claim):
                    yield claim.id, claim.holder

    def release(self, targets: Sequence[ClaimId] | None) -> list[str]:
        """Release the claims on these targets, including lost ones; ``None``: all in
        this worktree. Returns their ids. Raises NotFoundError for a target that the
        holder has not claimed."""
        released: list[str] = []

        def plan(book: Book) -> ClaimPlan:
            named = self.own(book)
            lost = self.memory().lost({claim.id for claim in named})
            selected = targets
            if selected is not None:
                selected = [target for target in selected if str(target) not in lost]
            chosen = self._chosen(book, named, selected)
            names = lost if targets is None else list(map(str, targets))
            released[:] = dict.fromkeys([*(claim.id for claim in chosen), *names])
            return rules.plan_release(chosen)

        self._carry_out(plan, given_up=released)
        return released

    def renew(self) -> None:
        """Renew all claims in this worktree. Raises LockTimeoutError, StorageError."""

        def plan(book: Book) -> ClaimPlan:
            return rules.plan_renewal(map(self._renewed, self.own(book)))

        self._carry_out(plan)

    def _renewed(self, claim: Claim) -> Claim:
        """A claim of the holder with a new nonce."""
        holder = self.holder
        return claim._replace(
            session=holder.session or claim.session,
            branch=holder.branch,
            head=holder.head,
            nonce=nonce(),
            at=int(time.time()),
        )

    def own(self, book: Book) -> list[Claim]:
        """The holder's claims in this worktree."""
        holder = self.holder
        return [
            claim
            for claim in book.claims
            if claim.worktree == holder.worktree and holder.is_mine(claim.holder)
        ]

    def _chosen(
        self, book: Book, own: list[Claim], targets: Sequence[ClaimId] | None
    ) -> list[Claim]:
        if targets is None:
            return own
        by_id = {claim.target: claim for claim in own}
        for target in targets:
            if target not in by_id:
                raise not_held_error(target, own, book)
        return [by_id[target] for target in dict.fromkeys(targets)]

    def _carry_out(
        self,
        plan: PlanMaker,
        *,
        offline_hint: str = "",
        given_up: Collection[str] = (),
    ) -> ClaimPlan:
        """Carry out the plan for the current claims; try again if another clone, or
        another process that does not know our lock, was faster. With an
        ``offline_hint``, it fails without the remote."""
        remote = self.remote
        with self.registry.changing(self.seconds):
            for attempt in range(_TRIES):
                try:
                    planned = self._attempt(plan, remote)
                except (LostRaceError, LeaseError):
                    time.sleep(_PAUSE * attempt * random_between(0, 1))
                except WireError as error:
                    self._give_up_remote(error, offline_hint)
                    remote = None
                else:
                    self.remember(self.registry.read(), given_up)
                    return planned
        raise LockTimeoutError(
            "Other processes keep changing the same claims.",
            "Nothing was changed. Try again.",
        )

    def _attempt(self, plan: PlanMaker, remote: ClaimsRemote | None) -> ClaimPlan:
        """Read the claims and carry out the plan, once."""
        if remote is not None:
            remote.fetch()
        planned = plan(self.registry.read())
        moves = self.registry.store(planned.changes)
        if remote is None:
            self.registry.move(moves)
        else:
            try:
                remote.push(moves, is_claiming=bool(planned.changes))
            except UnreachableError as error:
                if not remote.has_arrived(moves, error):
                    raise
        return planned

    def _give_up_remote(self, error: WireError, offline_hint: str) -> None:
        """Go on without the remote. Raises OfflineError if a claim would not hold in
        other clones. That does not apply to a remote that takes no claims anyway."""
        refuses = isinstance(error, RefusedError)
        if offline_hint and isinstance(error, SilentError):
            raise OfflineError(
                f"{error}. It is not known whether it has the claim.",
                "When it is back, check with: wc sync, then wc claims --mine",
            ) from error
        if offline_hint and not refuses:
            raise OfflineError(
                f"{error}. Nothing was claimed.", offline_hint
            ) from error
        why = "takes no claims" if refuses else "was not reached"
        self.notes.append(f"only this clone knows; the remote {why}: {error}")

    def memory(self) -> held.Held:
        """The holder's current and lost claims in this worktree, from the store."""
        name = held.file_name(self.holder.worktree, self.holder.key)
        return held.load(self.registry.layout, name) or held.NOTHING

    def new_losses(self) -> list[str]:
        """The ids of the holder's lost claims that have not been reported yet. They
        count as reported from now on."""
        memory = self.memory()
        if not memory.claims:
            return []
        own = {claim.id for claim in self.own(self.registry.read())}
        lost = memory.lost(own)
        fresh = [claim_id for claim_id in lost if claim_id not in memory.told]
        if fresh:
            name = held.file_name(self.holder.worktree, self.holder.key)
            data = held.render(memory._replace(told=tuple(lost)))
            LocalFiles(self.registry.layout).write(f"claims/held/{name}", data)
        return fresh

    def remember(self, book: Book, given_up: Collection[str] = ()) -> None:
        """Record the holder's claims in the store."""
        name = held.file_name(self.holder.worktree, self.holder.key)
        local = LocalFiles(self.registry.layout)
        after = held.update(self.memory(), self.own(book), given_up)
        if after.claims:
            local.write(f"claims/held/{name}", held.render(after))
        else:
            local.remove(f"claims/held/{name}")


if TYPE_CHECKING:
    from collections.abc import Callable

    PlanMaker = Callable[[Book], ClaimPlan]


def nonce() -> str:
    """128 random bits as text."""
    return os.urandom(_NONCE_BYTES).hex()


_SHOWN = 3
_NO_CLAIMS = "You have no claims in this worktree."


def claimed_error(claim: Claim, count: int = 1) -> ClaimedError:
    """The error for a target that someone else has claimed, with the possible next
    steps."""
    verb = "edits" if claim.mode == WRITE else "relies on"
    age = ago(max(0, int(time.time()) - claim.at))
    facts = [
        f"active {age}",
        *([f"thread {claim.thread}"] if claim.thread else []),
        *([claim.note] if claim.note else []),
    ]
    count_text = f", and {counted(count - 1, 'more claim')}" if count > 1 else ""
    # Another clone may have written anything into the record.
    topic = quoted(claim.thread) if claim.thread else "TOPIC"
    ask = f"wc say {topic} -m '…' --to {quoted(claim.holder)}"
    path = quoted(claim.id)
    return ClaimedError(
        f"{claim.holder} {verb} {ids.label(claim.id)} ({'; '.join(facts)})"
        f"{count_text}.",
        f"Nothing was claimed. Ask: {ask}. See what is free: wc claims. "
        "If they are gone, a person takes it over: "
        f"wc claim {path} --takeover --reason '…'",
    )


def not_held_error(target: ClaimId, own: Sequence[Claim], book: Book) -> NotFoundError:
    """The error for releasing a target that the holder has not claimed."""
    names = [claim.id for claim in own][:_SHOWN]
    rivals = [
        claim
        for claim in book.overlapping(target)
        if claim not in own and book.binds(claim)
    ]
    rival = f"; {rivals[0].holder} has {rivals[0].id}" if rivals else ""
    yours = ", ".join(names)
    hint = f"You have claimed: {yours}" if names else _NO_CLAIMS
    return NotFoundError(f"You have no claim on {target}{rival}.", hint)
