"""``wc check``: may I edit this? Answers with a verdict from local files."""

from __future__ import annotations

from wc_cli.commands.edits.targets import repository_of, targets_of
from wc_cli.edits.claims import travel, upstream
from wc_cli.edits.claims.holding import ClaimHolder, Holding
from wc_cli.edits.claims.registry import Registry
from wc_cli.ledger import spawn
from wc_cli.ledger.clock import now_ms
from wc_cli.run.options import Options, command, flag, text, words
from wc_cli.run.output import say, say_json
from wc_core.attention.status.balls import folders_of
from wc_core.base import errors
from wc_core.base.errors import InvalidInputError, WcError
from wc_core.base.layout import Layout
from wc_core.base.text import one_line
from wc_core.edits.claims import ids, verdicts
from wc_core.edits.claims.record import MODES, READ, WRITE
from wc_core.edits.claims.upstreams import upstream_of
from wc_core.edits.claims.verdicts import PROCEED, Situation
from wc_core.edits.graph import kept, parsing
from wc_core.ledger.git import freshness
from wc_core.reading.views.claimball import ball_elsewhere
from wc_core.reading.views.conflicts import hot_targets, load_conflicts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wc_cli.run.context import Context
    from wc_core.edits.claims.verdicts import Judgement

# Recompute the graph after this many milliseconds, to include uncommitted changes.
_FRESH_MS = 300_000

_ERRORS = (
    *(errors.ReadOnlyError, errors.NotYetError, errors.SwitchTaskError),
    *(errors.PullError, errors.PushError, errors.StopError),
)
_BY_VERDICT: dict[str, type[WcError]] = {error.code: error for error in _ERRORS}


class CheckOptions(Options):
    """Check whether you may edit something. Exits 0 if you may."""

    targets: tuple[str, ...] = words("TARGET...", "Files, folders, or PATH::SYMBOL.")
    mode: str = text(
        "--mode", "MODE", "What you want to do: write or read.", default=WRITE
    )
    thread: str = text(
        "--thread", "TOPIC", "The thread that it is about.", complete="topic"
    )
    fetch: bool = flag("--fetch", help="Fetch from the remote first.")


@command(CheckOptions)
def check(context: Context, options: CheckOptions) -> None:
    """Answer with a verdict and its reasons."""
    if options.mode not in MODES:
        raise InvalidInputError(
            f"{options.mode!r} is not a claim mode.", "Use write or read."
        )
    situation = _situation(context, options)
    judgement = verdicts.judge(situation)
    if situation.rivals:
        _refresh_graph(context, situation)
    if options.json:
        say_json(judgement.to_json())
    else:
        say(_text(judgement))
    if judgement.verdict != PROCEED:
        first = judgement.reasons[0]
        hint = f"Next: {judgement.command}" if judgement.command else ""
        raise _BY_VERDICT[judgement.verdict](f"{judgement.verdict}: {first.text}", hint)


def _refresh_graph(context: Context, situation: Situation) -> None:
    """Start computing the graph for the next answer, unless the current graph is recent
    and of the same commit, or the parsers are missing."""
    graph = situation.graph
    age = now_ms() - graph.at_ms if graph is not None else _FRESH_MS
    if graph is not None and graph.head == situation.graph_head and age < _FRESH_MS:
        return
    if not parsing.missing_modules():
        layout = Layout(context.place.root)
        spawn.start_graph(layout, repository_of(context).top, context.env)


def _text(judgement: Judgement) -> str:
    lines = [judgement.verdict]
    lines += [f"{item.code}: {item.text}" for item in judgement.shown_reasons]
    if judgement.verdict == verdicts.SWITCH_TASK and judgement.switch_to:
        lines.append(f"You have the ball of: {', '.join(judgement.switch_to)}")
    return "\n".join(map(one_line, lines))


def _situation(context: Context, options: CheckOptions) -> Situation:
    """The facts for the verdict."""
    targets = targets_of(context, options.targets)
    repository, viewer = repository_of(context), context.viewer
    layout = Layout(context.place.root)
    registry = Registry(repository, layout, context.env)
    holding = Holding(registry, ClaimHolder.of(viewer, repository, ""), 0.0)
    offline = _fetch(context, registry) if options.fetch else ""
    book = registry.read()
    diverged = upstream.divergence(registry, targets)
    own = holding.own(book)
    lost = holding.memory().lost({claim.id for claim in own})
    unclaimed = [
        name
        for name in diverged.unpushed
        if not any(claim.target.covers(ids.parse(name)) for claim in own)
    ]
    return Situation(
        targets=tuple(targets),
        book=book,
        is_mine=viewer.is_me,
        mode=options.mode,
        lost=tuple(lost) if options.mode != READ else (),
        head=repository.commit,
        remote_head=diverged.remote_head,
        behind=diverged.behind,
        unpushed=tuple(unclaimed),
        ball=ball_elsewhere(context.reader, viewer, book, targets, options.thread),
        offline=offline,
        outdated="" if options.fetch else _outdated(layout),
        threads=_own_threads(context),
        hot=hot_targets(load_conflicts(layout, repository, now_ms()), targets),
        graph=kept.load(layout, repository.worktree_id),
        graph_head=repository.commit,
        neighbor=context.settings.neighbor,
    )


def _fetch(context: Context, registry: Registry) -> str:
    """Fetch claims and commits from the remote. Returns why it was not reached, or an
    empty string."""
    remote = travel.claims_remote(registry, context.settings)
    branch = upstream_of(registry.repository, context.env)
    return travel.fetch_for_check(registry, remote, branch)


def _outdated(layout: Layout) -> str:
    """That the last exchange failed, and how old the facts are; empty if it did not."""
    latest = freshness.load(layout)
    return latest.outdated(now_ms()) if latest is not None else ""


def _own_threads(context: Context) -> tuple[str, ...]:
    """The threads whose ball the caller has, longest held first."""
    held = context.balls.held(folders_of(context.viewer))
    return tuple(ball.topic for ball in held if ball.topic)
