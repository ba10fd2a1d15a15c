"""``wc sync``: exchange the threads with the git remote."""

from __future__ import annotations

import os
import sys
import time

from wc_cli.bridges import elsewhere
from wc_cli.bridges.carry import automatic
from wc_cli.ledger.store import pending
from wc_cli.ledger.sync.exchange import LIMIT_SECONDS, Waiting
from wc_cli.ledger.sync.exchanger import Exchanger
from wc_cli.ledger.sync.firstcontact import fetch_first, preview_first
from wc_cli.ledger.sync.routes import usual_remote
from wc_cli.run.entries import landings
from wc_cli.run.options import Options, argument, command, flag, number
from wc_cli.run.output import remark, say, say_json
from wc_core.base.errors import (
    ConflictError,
    InvalidInputError,
    LockTimeoutError,
    OfflineError,
)
from wc_core.base.layout import Layout
from wc_core.base.phrases import bounded, counted, listed
from wc_core.base.text import one_line
from wc_core.ledger.carry import modes
from wc_core.ledger.configuration.keys import OFF
from wc_core.ledger.git import remotes, repository
from wc_core.ledger.git.discovery import BRANCH_STORE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from wc_cli.ledger.sync.exchange import Exchange
    from wc_cli.run.context import Context
    from wc_core.ledger.git.carried import Carried
    from wc_core.ledger.git.remotes import Remote
    from wc_core.ledger.git.repository import Repository

_MAX_NAMED = 8
_MAX_NOTES = 20
_NOTHING_UNSENT = "nothing to carry: what is here has arrived, or travels already"
_OFF = "Nothing travels with branches of the code here: carry.mode is off."
_EVERY = 30
# Seconds between two checks for new local writes.
_POLL_SECONDS = 0.5
_LONGEST_PAUSE = 300.0


class SyncOptions(Options):
    """Exchange the threads with the git remote: fetch, merge, push. Waits for
    the remote, at most 30 seconds, and exits 8 if it cannot be reached."""

    remote: str = argument(
        "REMOTE", "A remote's name or a URL (default: the usual remote).", default=""
    )
    dry_run: bool = flag(
        "--dry-run", help="Only show what would be exchanged; change no thread."
    )
    watch: bool = flag(
        "--watch", help="Keep syncing on every change, until interrupted."
    )
    every: int = number(
        "--every", "With --watch: check the remote every N seconds.", default=_EVERY
    )
    carry: bool = flag(
        "--carry",
        help="What cannot be pushed travels with the branch that is checked out here.",
    )
    timeout: int | None = number(
        "--timeout", "Wait at most N seconds for the remote.", default=None
    )


@command(SyncOptions)
def sync(context: Context, options: SyncOptions) -> None:
    """Exchange the threads with the git remote."""
    _check(context, options)
    if _is_without_remote(context, options) and _carried(context, options):
        return
    own_repository, remote = store_route(context, options.remote)
    is_new = not context.place.exists
    if is_new and options.dry_run and not context.place.branch_exists:
        _print_result(
            preview_first(own_repository, context.env, remote, _wait_limit(options)),
            options,
        )
        return
    if is_new:
        _adopt_store(context, own_repository, remote, _wait_limit(options))
    if options.watch:
        _watch(context, remote, options)
    exchanger = _exchanger(context, remote, options)
    if options.dry_run:
        _print_result(exchanger.preview(new_store=is_new), options)
        return
    try:
        result = _exchange(context, exchanger, options, is_new=is_new)
    except OfflineError as error:
        if _carried(context, options, error):
            return
        raise
    # A send-only exchange took one request. More are needed only for claims.
    root = context.place.root
    if not result.ahead or result.behind or _has_more(own_repository):
        from wc_cli.run.entries import (
            losses,  # 9 ms, rarely needed after a send-only exchange
        )

        seconds = exchanger.waiting.seconds
        notes = losses.exchange_beside_store(root, context.env, remote, seconds)
        result = result.with_notes(*notes)
    _print_result(result, options)


def _check(context: Context, options: SyncOptions) -> None:
    """Raise InvalidInputError for options that exclude each other, or have no
    meaning."""
    if options.watch and (options.dry_run or options.carry):
        raise InvalidInputError(
            "--watch excludes --dry-run and --carry.", "Use one of them."
        )
    if options.carry and context.settings.carry == OFF:
        raise InvalidInputError(_OFF, "See who set it: wc config get carry.mode")
    if not options.every:
        raise InvalidInputError(
            "--every takes at least 1 second.", "Use --every 1 or more."
        )


def store_route(context: Context, name: str = "") -> tuple[Repository, Remote]:
    """Return the repository of the store, and the remote it is exchanged with.

    Raises InvalidInputError if the store has no branch of its own, or if the remote is
    not clear.
    """
    place = context.place
    own_repository = context.store_repository if place.exists else place.repository
    if place.kind != BRANCH_STORE or own_repository is None:
        raise InvalidInputError(
            f"The store {context.store} has no branch of its own to exchange.",
            "A store in the code's tree travels with the code; one outside git "
            "has to be copied.",
        )
    if name:
        return own_repository, remotes.by_name(own_repository, context.env, name)
    return own_repository, usual_remote(own_repository, context.env)


def _has_more(repository: Repository) -> bool:
    """Whether this clone has made or seen claims."""
    folder = f"{repository.common}/refs/wc"
    # Snapshots for reviews are there, too.
    return os.path.isdir(folder) and bool({*os.listdir(folder)} - {"seen"})


def _exchange(
    context: Context, exchanger: Exchanger, options: SyncOptions, *, is_new: bool
) -> Exchange:
    """Exchange, harvest, and tell the person what came."""
    result = automatic.exchange(exchanger, new_store=is_new, forced=options.carry)
    place = context.place
    automatic.forget_carried(place.root, place.repository, context.env)
    landings.refresh(context.place.root, context.env)
    _inform_person(context)
    return result


def _is_without_remote(context: Context, options: SyncOptions) -> bool:
    code = context.place.repository
    if options.remote or code is None or not context.place.exists:
        return False
    return remotes.find(code, context.env) is None and not remotes.names(
        code, context.env
    )


def _carried(
    context: Context, options: SyncOptions, error: OfflineError | None = None
) -> bool:
    """Where nothing can be pushed, have the entries travel with the code, if that is
    wanted here, and report it. Returns whether any travel.

    Otherwise, where it would help, the ``error`` names the command.
    """
    code, rules, dry_run = context.place.repository, context.settings, options.dry_run
    try:
        carried = automatic.carry_if_wanted(
            *(context.place.root, code, context.env),
            forced=options.carry,
            dry_run=dry_run,
        )
    except ConflictError as obstacle:
        if error is None:
            raise
        error.hint = f"{error.hint} {obstacle.message} {obstacle.hint}".strip()
        return False
    if carried is None:
        if error is not None:
            offer = automatic.offer(code, context.env, rules)
            error.hint = f"{error.hint} {offer}".strip()
        return False
    if carried.uncarried:
        entries = counted(carried.uncarried, "entry", "entries")
        remark(f"note: {entries} cannot travel: too long, or not by an agent")
        if not carried.ids:
            return False
    if error is not None:
        remark(f"note: {one_line(error.message)}")
    if options.json:
        say_json({"carried": carried.to_json(), "dry_run": dry_run})
    else:
        say(one_line(_carried_sentence(carried, code, dry_run=dry_run)))
    if carried.carrier and not modes.is_agents(carried.branch, rules.agents_branches):
        remark(f"note: nobody looks there: carry.from lacks {one_line(carried.branch)}")
    return True


def _carried_sentence(
    carried: Carried, code: Repository | None, *, dry_run: bool
) -> str:
    if not carried.ids:
        return _NOTHING_UNSENT
    if dry_run:
        entries = counted(len(carried.ids), "entry", "entries")
        return f"{entries} would travel with {carried.way}"
    return carried.sentence(code)


def exchange_once(context: Context) -> Exchange:
    """Exchange the store with its usual remote, once."""
    _, remote = store_route(context)
    waiting = Waiting.at_most()
    return Exchanger(context.place.root, context.env, remote, waiting).exchange()


def _adopt_store(
    context: Context, repository: Repository, remote: Remote, waiting: Waiting
) -> None:
    """Check out the store, with what the remote already has."""
    waiting.tell(f"Fetching from {remote.label} …")
    fetch_first(repository, context.env, remote, waiting)
    context.ensure_store(missing_ok=True)


def _wait_limit(options: SyncOptions) -> Waiting:
    limit = LIMIT_SECONDS if options.timeout is None else options.timeout
    return Waiting.at_most(limit, tell=_show_progress)


def _exchanger(context: Context, remote: Remote, options: SyncOptions) -> Exchanger:
    context.writer()  # creates the files that record the exchange
    waiting = _wait_limit(options)
    return Exchanger(context.place.root, context.env, remote, waiting)


def _show_progress(text: str) -> None:
    """Show progress on a terminal, until something else is shown."""
    if sys.stderr.isatty():
        sys.stderr.write(f"\r\x1b[K{one_line(text)}")
        sys.stderr.flush()


def _watch(context: Context, remote: Remote, options: SyncOptions) -> None:
    """Exchange until interrupted: immediately after an entry is written here, and every
    ``--every`` seconds to fetch."""
    pause = float(options.every)
    notes: tuple[str, ...] = ()
    while True:
        try:
            exchanger = _exchanger(context, remote, options)
            result = _exchange(context, exchanger, options, is_new=False)
            _show_progress("")
            # Unchanged notes are printed once.
            if result._replace(notes=()).moved or result.notes != notes:
                _print_result(result, options)
            notes = result.notes
            pause = float(options.every)
        except (OfflineError, LockTimeoutError) as error:
            _show_progress("")
            remark(f"wc: {one_line(error.message)}")
            pause = min(pause * 2, max(_LONGEST_PAUSE, options.every))
        _await_news(context.place.root, pause, again=pause == options.every)


def _inform_person(context: Context) -> None:
    """Tell the person of this machine what came to them."""
    if context.settings.sync != OFF:
        elsewhere.inform_person(context.place.root, context.env)


def _await_news(root: str, seconds: float, *, again: bool) -> None:
    """Wait that many seconds; with ``again``, only until something is written here."""
    layout = Layout(root)
    start = _branch_tip(root)
    deadline = time.monotonic() + seconds
    while (remaining := deadline - time.monotonic()) > 0:
        time.sleep(min(remaining, _POLL_SECONDS))
        written = set(pending.unsettled_topics(layout)) - pending.stuck_topics(layout)
        if again and (written or _branch_tip(root) != start):
            return


def _branch_tip(root: str) -> str:
    own_repository = repository.find(root)
    return own_repository.commit if own_repository is not None else ""


def _print_result(result: Exchange, options: SyncOptions) -> None:
    _show_progress("")
    if options.json:
        say_json({**result.to_json(), "dry_run": options.dry_run})
    else:
        say(one_line(_result_sentence(result, dry_run=options.dry_run)))
    for note in bounded(result.notes, _MAX_NOTES):
        remark(f"note: {one_line(note)}")
    outvoted = [
        f"{path} was changed on both sides; the version of {result.remote} counts, "
        "yours is in the history"
        for path in result.outvoted
    ]
    for note in bounded(outvoted, _MAX_NOTES):
        remark(f"note: {one_line(note)}")


def _result_sentence(result: Exchange, *, dry_run: bool) -> str:
    came, went = ("would come", "would go") if dry_run else ("came", "went")
    facts = []
    if len(result.harvested) > _MAX_NAMED:
        total = counted(sum(result.harvested.values()), "entry", "entries")
        branches = listed(result.harvested, _MAX_NAMED)
        facts.append(f"{total} {came} with {branches}")
    else:
        for branch, count in result.harvested.items():
            facts.append(f"{counted(count, 'entry', 'entries')} {came} with {branch}")
    if result.came:
        facts.append(f"{_entry_counts(result.came)} {came}")
    if result.went:
        facts.append(f"{_entry_counts(result.went)} {went}")
    if not facts and (result.behind or result.ahead):
        if result.behind:
            facts.append(f"{counted(result.behind, 'commit')} {came}")
        if result.ahead:
            facts.append(f"{counted(result.ahead, 'commit')} {went}")
        facts.append("no entries")
    return f"{result.remote}: {' · '.join(facts) or 'nothing new, here or there'}"


def _entry_counts(topics: Mapping[str, int]) -> str:
    """Return how many entries there are and in which threads, the busiest first."""
    total = counted(sum(topics.values()), "entry", "entries")
    ordered = sorted(topics.items(), key=lambda pair: (-pair[1], pair[0]))
    named = [
        topic if 1 in (count, len(topics)) else f"{topic} {count}"
        for topic, count in ordered[:_MAX_NAMED]
    ]
    if len(ordered) > _MAX_NAMED:
        named.append(f"{len(ordered) - _MAX_NAMED} more")
    return f"{total} ({', '.join(named)})"
