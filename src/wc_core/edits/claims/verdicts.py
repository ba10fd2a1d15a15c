"""May I edit this? One verdict for all targets, with every reason for it.

The verdicts are ordered; the strictest reason decides. Also the form of the answer in
JSON, with the fields of a coordination service: ``status``, ``locks``,
``orchestration``.
"""

from __future__ import annotations

from wc_core.base.phrases import quoted
from wc_core.base.times import rfc3339
from wc_core.base.values import NamedTuple
from wc_core.edits.claims.ids import TOP, ClaimId, label
from wc_core.edits.claims.record import READ, WRITE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any

    from wc_core.edits.claims.book import Book
    from wc_core.edits.claims.record import Claim
    from wc_core.edits.graph.model import FileUse, Graph, Neighbourhood

PROCEED, READ_ONLY, WAIT, SWITCH_TASK = "PROCEED", "READ_ONLY", "WAIT", "SWITCH_TASK"
PULL, PUSH, STOP = "PULL", "PUSH", "STOP"
VERDICTS = (PROCEED, READ_ONLY, WAIT, SWITCH_TASK, PULL, PUSH, STOP)

FREE, OWN, DIRECT_WRITE, DIRECT_READ = "FREE", "OWN", "DIRECT_WRITE", "DIRECT_READ"
STALE_HEAD, UNPUSHED, BALL_ELSEWHERE = "STALE_HEAD", "UNPUSHED", "BALL_ELSEWHERE"
REMOTE_UNREACHABLE, FENCED, HOT = "REMOTE_UNREACHABLE", "FENCED", "HOT"
NEIGHBOR_DEPENDENCY, NEIGHBOR_DEPENDENT = "NEIGHBOR_DEPENDENCY", "NEIGHBOR_DEPENDENT"
NEIGHBOR_CODES = (NEIGHBOR_DEPENDENCY, NEIGHBOR_DEPENDENT)
GRAPH_STALE, GRAPH_UNAVAILABLE = "GRAPH_STALE", "GRAPH_UNAVAILABLE"
GRAPH_CODES = (GRAPH_STALE, GRAPH_UNAVAILABLE)

OK, STALE, CONFLICT, OFFLINE = "OK", "STALE", "CONFLICT", "OFFLINE"
OPEN, LOCKED_DIRECT, LOCKED_NEIGHBOR = "OPEN", "LOCKED_DIRECT", "LOCKED_NEIGHBOR"

# The consequence of a claim on a neighbour, by the setting ``neighbor``.
_NEIGHBOR_VERDICTS = {
    "advise": PROCEED,
    "readonly": READ_ONLY,
    "block": SWITCH_TASK,
}
# If a claim lapses sooner than this, the verdict is to wait.
_SOON_SECONDS = 60
_SHOWN = 3


class ThreadBall(NamedTuple):
    """The thread that the work is about, and who else has its ball."""

    topic: str
    holder: str


class Situation(NamedTuple):
    """What a verdict is made from.

    - ``lost``: the ids of claims that the caller had and lost
    - ``head``, ``remote_head``: the commits of the branch here and at the remote, as of
      the last fetch; ``behind`` says whether the remote's is missing here, ``None`` if
      that is not known
    - ``unpushed``: the paths that were asked about and changed in commits that the
      remote lacks
    - ``ball``: set if someone else has the ball
    - ``offline``: why the remote was not reached, if it was asked
    - ``outdated``: that the last exchange failed, and how old the facts are
    - ``threads``: threads whose ball the caller has
    - ``hot``: sentences about conflicts to come, each with the target it is about
    - ``graph``: which files use which, as it was kept; ``graph_head`` is the commit
      that it should be of
    - ``neighbor``: what a claim on a neighbour means, by the setting
    """

    targets: tuple[ClaimId, ...]
    book: Book
    is_mine: Callable[[str], bool]
    mode: str = WRITE
    lost: tuple[str, ...] = ()
    head: str = ""
    remote_head: str = ""
    behind: bool | None = False
    unpushed: tuple[str, ...] = ()
    ball: ThreadBall | None = None
    offline: str = ""
    outdated: str = ""
    threads: tuple[str, ...] = ()
    hot: tuple[tuple[str, str], ...] = ()
    graph: Graph | None = None
    graph_head: str = ""
    neighbor: str = "advise"

    @property
    def rivals(self) -> list[Claim]:
        """The claims of others that an editor has to respect."""
        return [
            claim
            for claim in self.book.claims
            if claim.mode == WRITE
            and not self.is_mine(claim.holder)
            and self.book.binds(claim)
        ]


class Reason(NamedTuple):
    """A reason for a verdict: a code, the least strict verdict that follows from it,
    its target, and a sentence. ``claim`` is set if it is about someone's claim."""

    code: str
    verdict: str
    target: str
    text: str
    claim: Claim | None = None


class Judgement(NamedTuple):
    """The verdict, with all reasons, the strictest first."""

    verdict: str
    reasons: tuple[Reason, ...]
    situation: Situation

    @property
    def status(self) -> str:
        """The state of the caller's copy, in one word."""
        codes = {item.code for item in self.reasons}
        if REMOTE_UNREACHABLE in codes:
            return OFFLINE
        direct = {DIRECT_WRITE, DIRECT_READ, FENCED}
        if codes & direct or self.reasons[0].code in NEIGHBOR_CODES:
            return CONFLICT
        return STALE if self.situation.behind else OK

    @property
    def lock_status(self) -> str:
        """Whether others have claimed a target, or only a neighbour of one."""
        codes = {item.code for item in self.reasons}
        if codes & {DIRECT_WRITE, DIRECT_READ}:
            return LOCKED_DIRECT
        return LOCKED_NEIGHBOR if codes & {*NEIGHBOR_CODES} else OPEN

    @property
    def command(self) -> str:
        """The command to run next; empty to continue."""
        ids = " ".join(quoted(_word(target)) for target in self.situation.targets)
        commands = {
            PULL: "git pull --rebase",
            PUSH: "git push",
            WAIT: f"wc check {ids}",
            READ_ONLY: f"wc claim {ids} --mode read",
        }
        if self.verdict == SWITCH_TASK and self.switch_to:
            return f"wc read {quoted(self.switch_to[0])} --new"
        return commands.get(self.verdict, "")

    @property
    def switch_to(self) -> tuple[str, ...]:
        """Up to three threads whose ball the caller has and that are unaffected."""
        situation = self.situation
        topics = {reason.claim.thread for reason in self.reasons if reason.claim}
        if situation.ball is not None:
            topics.add(situation.ball.topic)
        return tuple(topic for topic in situation.threads if topic not in topics)[:3]

    @property
    def shown_reasons(self) -> tuple[Reason, ...]:
        """The reasons to show to people: if no one else has claimed anything, they need
        not read that neighbours are not known."""
        if self.situation.rivals:
            return self.reasons
        return tuple(item for item in self.reasons if item.code not in GRAPH_CODES)

    def to_json(self) -> dict[str, Any]:
        """The answer, as JSON."""
        situation, first = self.situation, self.reasons[0]
        rivals = [
            item.claim
            for item in self.reasons
            if item.claim is not None and _is_rival(item)
        ]
        return {
            "verdict": self.verdict,
            "reasons": [
                {"code": item.code, "verdict": item.verdict, "target": item.target}
                | {"text": item.text}
                for item in self.reasons
            ],
            "switch_to": list(self.switch_to),
            "status": self.status,
            "lock_status": self.lock_status,
            "repo_head": situation.head or None,
            "locks": _locks(self.reasons, situation),
            "warnings": [
                item.text for item in self.shown_reasons if item.code in _WARNINGS
            ],
            "orchestration": {
                "type": first.code,
                "action": self.verdict,
                "command": self.command or None,
                "reason": first.text,
                "metadata": {
                    "remote_head": situation.remote_head or None,
                    "lock_owner": rivals[0].holder if rivals else None,
                    "conflicts": [claim.id for claim in rivals],
                },
            },
        }


def _word(target: ClaimId) -> str:
    """An id as an argument of a command, not to be mistaken for an option."""
    return f"./{target}" if target.path.startswith("-") else str(target)


_WARNINGS = frozenset(
    {HOT, REMOTE_UNREACHABLE, UNPUSHED, STALE_HEAD, *GRAPH_CODES, *NEIGHBOR_CODES}
)


def _is_rival(reason: Reason) -> bool:
    """Whether a reason is someone else's claim that keeps the caller from editing."""
    claim = reason.claim
    if claim is None or reason.code == OWN:
        return False
    return reason.code not in NEIGHBOR_CODES or reason.verdict != PROCEED


def _locks(reasons: Sequence[Reason], situation: Situation) -> dict[str, Any]:
    """The claims in the reasons, by id. A claim may be on a target and on a neighbour
    of another target: then the first counts."""
    locks: dict[str, Any] = {}
    for reason in sorted(reasons, key=lambda item: item.code in NEIGHBOR_CODES):
        claim = reason.claim
        if claim is not None and claim.id not in locks:
            locks[claim.id] = {
                "user": claim.holder,
                "status": situation.book.standing(claim),
                "mode": claim.mode,
                "lock_type": (
                    "NEIGHBOR" if reason.code in NEIGHBOR_CODES else "DIRECT"
                ),
                "timestamp": rfc3339(claim.at * 1000),
            }
    return locks


def judge(situation: Situation) -> Judgement:
    """The verdict on the targets."""
    reasons = [
        *(item for target in situation.targets for item in _claimed(target, situation)),
        *_of_neighbours(situation),
        *_fenced(situation),
        *_of_repository(situation),
    ]
    reasons.sort(key=lambda item: -VERDICTS.index(item.verdict))
    return Judgement(reasons[0].verdict, tuple(reasons), situation)


def _claimed(target: ClaimId, situation: Situation) -> Iterator[Reason]:
    """The reasons from the claims on a target."""
    book, name = situation.book, str(target)
    claims = [claim for claim in book.overlapping(target) if book.binds(claim)]
    reasons = []
    for claim in claims:
        if situation.is_mine(claim.holder):
            text = f"You have claimed {label(claim.id)}."
            reasons.append(Reason(OWN, PROCEED, name, text, claim))
        elif not (claim.mode == READ and situation.mode == READ):
            reasons.append(_rival(claim, name, situation))
    yield from reasons
    if not reasons:
        text = f"No one has claimed {'anything' if name == TOP else name}."
        if claims:
            text = f"{claims[0].holder} only reads {label(claims[0].id)}, too."
        yield Reason(FREE, PROCEED, name, text)


def _rival(claim: Claim, name: str, situation: Situation) -> Reason:
    """The reason from someone else's claim."""
    about = f" for the thread {claim.thread}" if claim.thread else ""
    if claim.mode == READ:
        text = f"{claim.holder} relies on {label(claim.id)}{about}."
        return Reason(DIRECT_READ, READ_ONLY, name, text, claim)
    seconds = situation.book.seconds_to_lapse(claim)
    verdict = WAIT if seconds < _SOON_SECONDS else SWITCH_TASK
    remaining = f" It lapses in {int(seconds)} s." if verdict == WAIT else ""
    text = f"{claim.holder} edits {label(claim.id)}{about}.{remaining}"
    return Reason(DIRECT_WRITE, verdict, name, text, claim)


def _of_neighbours(situation: Situation) -> Iterator[Reason]:
    """The reasons from others' claims on neighbours, and from unknown neighbours.
    Callers who only read are not affected."""
    if situation.mode == READ:
        return
    for fact in facts(
        situation.targets, situation.graph, situation.graph_head, situation.rivals
    ):
        verdict = PROCEED
        if fact.code in NEIGHBOR_CODES:
            verdict = _NEIGHBOR_VERDICTS[situation.neighbor]
        yield Reason(fact.code, verdict, fact.target, fact.text, fact.claim)


def _fenced(situation: Situation) -> Iterator[Reason]:
    for claim_id in situation.lost:
        release = f"wc release {quoted(claim_id)}"
        text = f"You have lost the claim on {claim_id}; give it up: {release}"
        yield Reason(FENCED, STOP, claim_id, text)


def _of_repository(situation: Situation) -> Iterator[Reason]:
    """The reasons from the branch, the remote and the thread."""
    if situation.offline:
        verdict = PROCEED if situation.mode == READ else STOP
        text = f"The remote was not reached: {situation.offline}."
        yield Reason(REMOTE_UNREACHABLE, verdict, "", text)
    elif situation.outdated:
        yield Reason(REMOTE_UNREACHABLE, PROCEED, "", situation.outdated)
    if situation.behind is None:
        ids = " ".join(quoted(str(target)) for target in situation.targets)
        text = f"Whether the remote's branch has more commits takes git: wc check {ids}"
        yield Reason(STALE_HEAD, PROCEED, "", text)
    elif situation.behind:
        text = "The remote's branch has commits that are not here."
        yield Reason(STALE_HEAD, PULL, "", text)
    # It stops no one: if both sides stopped, the conflict could not be resolved.
    for name, text in situation.hot:
        yield Reason(HOT, PROCEED, name, text)
    for path in situation.unpushed:
        text = f"{path} is changed in commits that the remote lacks, and unclaimed."
        yield Reason(UNPUSHED, PUSH, path, text)
    if situation.ball is not None:
        text = f"{situation.ball.holder} has the ball of {situation.ball.topic}."
        yield Reason(BALL_ELSEWHERE, SWITCH_TASK, situation.ball.topic, text)


class NeighborFact(NamedTuple):
    """A code, its target, a sentence, and the claim that it is about, if any."""

    code: str
    target: str
    text: str
    claim: Claim | None = None


def facts(
    targets: Sequence[ClaimId],
    graph: Graph | None,
    head: str,
    claims: Sequence[Claim],
) -> Iterator[NeighborFact]:
    """The known neighbours of the targets, at the commit ``head``; ``graph`` was stored
    earlier. ``claims`` are those of others that exclude editing."""
    names = ", ".join(map(str, targets[:_SHOWN]))
    command = f"wc neighbors {quoted(str(targets[0])) if targets else '.'}"
    if graph is None:
        text = f"The neighbours of {names} are not known here: {command}"
        yield NeighborFact(GRAPH_UNAVAILABLE, "", text)
        return
    if graph.head != head:
        text = f"The neighbours of {names} are those at another commit: {command}"
        yield NeighborFact(GRAPH_STALE, "", text)
    for target in targets:
        neighbourhood = graph.neighbourhood(target.path, target.symbol)
        if neighbourhood is None:
            text = f"The neighbours of {target} are not known: it was not parsed."
            yield NeighborFact(GRAPH_UNAVAILABLE, str(target), text)
        else:
            others = [claim for claim in claims if not claim.target.overlaps(target)]
            yield from _of_target(target, neighbourhood, others)


def _of_target(
    target: ClaimId, neighbourhood: Neighbourhood, claims: Sequence[Claim]
) -> Iterator[NeighborFact]:
    """The claims on the neighbours of a target; for a hub, one sentence for each
    direction."""
    for code, uses, verb in (
        (NEIGHBOR_DEPENDENCY, neighbourhood.uses, "is used by"),
        (NEIGHBOR_DEPENDENT, neighbourhood.used_by, "uses"),
    ):
        concerned = [claim for claim in claims if _concerns(claim, code, uses)]
        if neighbourhood.is_hub and len(concerned) > _SHOWN:
            names = ", ".join(label(claim.id) for claim in concerned[:_SHOWN])
            text = f"Others edit {len(concerned)} neighbours of {target}: {names}, …"
            yield NeighborFact(code, str(target), text, concerned[0])
            continue
        for claim in concerned:
            text = f"{claim.holder} edits {label(claim.id)}, which {verb} {target}."
            yield NeighborFact(code, str(target), text, claim)


def _concerns(claim: Claim, code: str, uses: Sequence[FileUse]) -> bool:
    """Whether a claim is on one of the neighbours. A claim on a symbol concerns files
    that mention it, which only matters for what is used."""
    claimed = claim.target
    name = claimed.symbol.rpartition(".")[2] if code == NEIGHBOR_DEPENDENCY else ""
    return any(
        ClaimId(claimed.path).covers(ClaimId(use.path))
        and (not name or name in use.names)
        for use in uses
    )
