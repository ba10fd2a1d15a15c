"""The commands about who edits what: claim, release, list."""

from __future__ import annotations

from wc_cli.agents.briefing.coverage import coverage, coverage_text
from wc_cli.commands.common import LockOptions
from wc_cli.commands.edits.targets import repository_of, targets_of
from wc_cli.edits.claims import existing, travel, upstream
from wc_cli.edits.claims.holding import ClaimHolder, Holding
from wc_cli.edits.claims.registry import Registry
from wc_cli.ledger.clock import now_ms
from wc_cli.run import ancestors
from wc_cli.run.options import Options, command, flag, text, texts, words
from wc_cli.run.output import remark, say, say_json
from wc_cli.run.terminal import edits as edits_rendering
from wc_cli.run.terminal.style import output_style
from wc_core.base import sandboxes
from wc_core.base.errors import (
    ClaimedError,
    InvalidInputError,
    NotFoundError,
    PullError,
)
from wc_core.base.layout import Layout
from wc_core.base.phrases import counted, quoted
from wc_core.base.text import one_line
from wc_core.base.times import age_ms, span
from wc_core.edits.claims import sessions
from wc_core.edits.claims.record import MAX_TTL, MIN_TTL, MODES, WRITE, Claim
from wc_core.ledger.threads import vocabulary

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from wc_cli.run.context import Context
    from wc_core.edits.claims.book import Book
    from wc_core.edits.claims.ids import ClaimId
    from wc_core.edits.claims.rules import ClaimPlan

_TARGETS = "Files, folders, or PATH::SYMBOL."
_ABSENT = "does not exist in this worktree"


class ClaimOptions(LockOptions):
    """Claim files that you edit: others are refused until you release them. Claims all
    of them, or none."""

    targets: tuple[str, ...] = words("TARGET...", _TARGETS)
    thread: str = text(
        "--thread", "TOPIC", "The thread that it is about.", complete="topic"
    )
    why: tuple[str, ...] = texts("-m", "WHY", "What you are about to do.")
    mode: str = text(
        "--mode",
        "MODE",
        "write, or read: others may read it, nobody should change it.",
        default=WRITE,
    )
    ttl: str = text(
        "--ttl", "LENGTH", "How long it lasts unless renewed (default: 15m)."
    )
    local_only: bool = flag(
        "--local-only",
        help="If the remote is unreachable, claim it in this clone only.",
    )
    new: bool = flag("--new", help="For something new: refuse if it exists.")
    anyway: bool = flag(
        "--anyway",
        help="Although this checkout is behind its remote; the claim says it.",
    )
    takeover: bool = flag(
        "--takeover", help="Even what someone else has claimed; a person decides that."
    )
    reason: str = text("--reason", "TEXT", "Why it is taken over; required for that.")


class ReleaseOptions(LockOptions):
    """Release your claims."""

    targets: tuple[str, ...] = words("TARGET...", "What to release.", default=())
    all: bool = flag("--all", help="All of your claims in this worktree.")


class ClaimsOptions(Options):
    """List what is claimed: by whom, since when, and why."""

    targets: tuple[str, ...] = words(
        "TARGET...", "Only claims that concern these.", default=()
    )
    mine: bool = flag("--mine", help="Only your claims.")


@command(ClaimOptions)
def claim(context: Context, options: ClaimOptions) -> None:
    """Claim all of the targets, or none."""
    if options.mode not in MODES:
        raise InvalidInputError(
            f"{options.mode!r} is not a claim mode.", "Use write or read."
        )
    why = vocabulary.reason(" ".join([options.reason, *options.why]))
    _check_takeover(context, options)
    draft = _draft(context, options.thread, why, options.ttl)
    draft = draft._replace(mode=options.mode, new=options.new)
    targets = targets_of(context, options.targets)
    if not options.new:
        _refuse_topics(context, options.targets, targets)
    holding = holding_of(context, options)
    if options.mode == WRITE:
        draft = _on_current_checkout(holding.registry, draft, anyway=options.anyway)
    if options.new:
        _refuse_existing(holding.registry, targets)
    else:
        top = holding.registry.repository.top
        holding.notes += existing.require_symbols(top, targets)
        holding.notes += [
            f"{target} {_ABSENT}; for something new: --new"
            for target in existing.absent(top, targets)
        ]
    plan = holding.claim(
        targets, draft, takeover=options.takeover, local_only=options.local_only
    )
    _print_claims(options, plan, draft)
    _print_notes(holding)
    if sandboxes.current(context.env) is not None:
        # Claims do not travel with a branch, so only the guard here protects them.
        level, layout = context.settings.guard, Layout(context.place.root)
        remark(coverage_text(level, coverage(layout, level, [context.identity.author])))


def _check_takeover(context: Context, options: ClaimOptions) -> None:
    """Raise InvalidInputError if something is taken over without a reason, and
    ClaimedError for an agent."""
    if options.takeover != bool(vocabulary.reason(options.reason)):
        raise InvalidInputError(
            "--takeover needs a --reason, and only --takeover has one.",
            "Give both: --takeover --reason 'No answer since Monday'",
        )
    if options.takeover and context.process_agent:
        paths = " ".join(map(quoted, options.targets))
        raise ClaimedError(
            "A person decides whether a claim is taken over.",
            "Nothing was claimed. Have your user run it, if they agree: "
            f"wc claim {paths} --takeover --reason {quoted(options.reason)}",
        )


@command(ReleaseOptions)
def release(context: Context, options: ReleaseOptions) -> None:
    """Give up claims."""
    if bool(options.targets) == options.all:
        raise InvalidInputError(
            "Name what to release, or pass --all.",
            "See what you have: wc claims --mine",
        )
    targets = None if options.all else targets_of(context, options.targets)
    holding = holding_of(context, options, renews=False)
    planned = [claim for claim in holding.own(holding.registry.read()) if claim.new]
    released = holding.release(targets)
    _print_ids(options, "released", released)
    made = [claim.target for claim in planned if claim.id in released]
    for target in existing.absent(holding.registry.repository.top, made):
        noun = "symbol" if target.symbol else "file"
        remark(one_line(f"warning: {target}: the {noun} does not exist"))
    _print_notes(holding)
    context.renew_claims()


@command(ClaimsOptions)
def claims(context: Context, options: ClaimsOptions) -> None:
    """List claims."""
    targets = targets_of(context, options.targets)
    layout = Layout(context.place.root)
    registry = Registry(repository_of(context), layout, context.env)
    book = registry.read()
    chosen = [
        claim
        for claim in book.claims
        if (not targets or any(claim.target.overlaps(target) for target in targets))
        and (not options.mine or context.viewer.is_me(claim.holder))
    ]
    book = book._replace(claims=tuple(chosen))
    level, holders = context.settings.guard, [claim.holder for claim in chosen]
    rows = coverage(layout, level, holders)
    if options.json:
        guard = {"level": level, "agents": [row.to_json() for row in rows]}
        say_json({**_book_json(context, book), "guard": guard})
        return
    style = output_style(context.env)
    say(edits_rendering.claims_text(book, context.viewer.is_me, now_ms(), style))
    if not chosen:
        whose = (
            "You have claimed none of these."
            if options.mine
            else "Nobody has claimed it."
        )
        every = "You have no claims." if options.mine else "Nothing is claimed."
        remark(whose if targets else every)
    elif rows:
        remark(coverage_text(level, rows))
    if book.unread:
        count = counted(len(book.unread), "ref")
        remark(f"note: not a claim that wc can read: {count} below refs/wc/claims")


# --- from words to values ---------------------------------------------------------


def holding_of(
    context: Context, options: LockOptions, *, renews: bool = True
) -> Holding:
    """The speaker's claims. The store may not exist yet. With ``renews``, claims that
    are due are renewed first."""
    repository = repository_of(context)
    layout = context.writer(renews=renews).reader.layout
    session = sessions.session_of(ancestors.session_process(context.env))
    registry = Registry(repository, layout, context.env)
    holder = ClaimHolder.of(context.viewer, repository, session)
    seconds = vocabulary.seconds(options.lock_timeout or "2")
    remote = travel.claims_remote(registry, context.settings)
    return Holding(registry, holder, seconds, remote)


def _draft(context: Context, topic: str, note: str, ttl: str) -> Claim:
    """The details of a claim, without its target and holder."""
    thread = entry = ""
    if topic:
        reader = context.reader
        state = reader.snapshot(reader.find(topic)).state
        thread, entry = state.topic, state.last_id
    claim = Claim("", WRITE, "", thread=thread, entry=entry, note=note)
    return claim._replace(ttl_s=_seconds(ttl)) if ttl else claim


def _seconds(length: str) -> int:
    """A time to live in seconds. Raises InvalidInputError."""
    seconds = (age_ms(length) or 0) // 1000
    if not MIN_TTL <= seconds <= MAX_TTL:
        raise InvalidInputError(
            f"{length!r} is not a valid length for a claim.",
            "Use 10s to 7d, such as: --ttl 15m",
        )
    return seconds


def _refuse_topics(
    context: Context, typed: Sequence[str], targets: Sequence[ClaimId]
) -> None:
    """Raise NotFoundError for a word that is a thread and no file: it was to be taken,
    not claimed."""
    if not context.place.exists:
        return
    missing = existing.absent(repository_of(context).top, targets)
    for word, target in zip(typed, targets, strict=True):
        is_word = word == target.path and not target.symbol
        if not is_word or target not in missing:
            continue
        if context.reader.lookup(word, trusting=True) is not None:
            topic = quoted(word)
            raise NotFoundError(
                f"There is no file {word!r}; it is a thread, whose ball is taken.",
                f"Take it: wc take {topic}; or, for a new file of that name: "
                f"wc claim {topic} --new",
            )


def _on_current_checkout(registry: Registry, draft: Claim, *, anyway: bool) -> Claim:
    """The draft of a claim for writing, which says if the checkout is behind. Raises
    PullError, as `wc check` does, unless that is accepted."""
    diverged = upstream.divergence(registry, ())
    if not diverged.behind:
        return draft
    if not anyway:
        raise PullError(
            f"{diverged.name} has commits that are not here, so others may have "
            "changed it.",
            "Nothing was claimed. Get them: git pull --rebase; or insist: --anyway",
        )
    note = f"on a checkout behind {diverged.name}"
    return draft._replace(note=f"{draft.note}; {note}" if draft.note else note)


def _refuse_existing(registry: Registry, targets: Sequence[ClaimId]) -> None:
    """Raise ClaimedError for a target that must be new but exists."""
    for target in targets:
        place = existing.place_of(registry, target)
        if place:
            raise ClaimedError(
                f"{target} already exists, in {place}.",
                "Nothing was claimed. Without --new, you claim what exists.",
            )


# --- answers ----------------------------------------------------------------------


def _print_claims(options: Options, plan: ClaimPlan, draft: Claim) -> None:
    planned = [change.claim for change in plan.changes if change.claim is not None]
    if options.json:
        fields = {
            "claimed": [claim.id for claim in planned if claim.id not in plan.renewed],
            "renewed": list(plan.renewed),
            "replaced": [
                {"id": claim.id, "holder": claim.holder} for claim in plan.replaced
            ],
            "mode": draft.mode,
            "ttl_s": draft.ttl_s,
        }
        say_json(fields)
        return
    fresh = [claim for claim in planned if claim.id not in plan.renewed]
    length = span(draft.ttl_s).removesuffix(" 0s")
    if fresh:
        say(f"claimed for {length}: {_id_list(fresh)}")
    if plan.renewed:
        say(one_line(f"renewed for {length}: {', '.join(plan.renewed)}"))
    for claim in plan.replaced:
        remark(f"note: {claim.id} was claimed by {one_line(claim.holder)}")


def _print_ids(options: Options, verb: str, names: Sequence[str]) -> None:
    if options.json:
        say_json({verb: list(names)})
        return
    text = f"{verb}: {', '.join(names)}"
    say(one_line(text) if names else "You have no claims in this worktree.")


def _print_notes(holding: Holding) -> None:
    for note in holding.notes:
        remark(f"note: {one_line(note)}")


def _id_list(claims: Sequence[Claim]) -> str:
    return one_line(", ".join(claim.id for claim in claims))


def _book_json(context: Context, book: Book) -> dict[str, Any]:
    return {
        "store": context.store,
        "claims": [
            book.fields(claim, own=context.viewer.is_me(claim.holder))
            for claim in book.claims
        ],
        "unreadable": len(book.unread),
    }
