"""After a write: start settling, and print the receipt."""

from __future__ import annotations

import os
import time

from wc_cli.ledger import spawn
from wc_cli.ledger.clock import now_ms
from wc_cli.run import output
from wc_cli.run.entries import landings
from wc_core.base.errors import StorageError, WcError
from wc_core.base.layout import Layout, file_name, safe_name
from wc_core.base.lean import contextlib
from wc_core.base.names import parse
from wc_core.base.phrases import quoted
from wc_core.base.text import one_line
from wc_core.ledger.carry import modes
from wc_core.ledger.configuration.keys import ASK
from wc_core.ledger.git import config, discovery, remotes, repository
from wc_core.ledger.git.discovery import BRANCH_STORE
from wc_core.ledger.git.private import private_layout
from wc_core.ledger.planning import unlanded
from wc_core.ledger.planning.nextmoves import LAND
from wc_core.ledger.threads.model import CLOSED, holder_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from wc_cli.ledger.store.lockedthread import Receipt
    from wc_cli.run.context import Context
    from wc_core.attention.wake.waiters import Waiter

_FORMAT = "core.repositoryFormatVersion"
# What a receipt waits for git at most, which may hang.
_GIT_SECONDS = 1.0
# After this long without a session that could be woken, no one expects it.
_WAKING_LASTS_MS = 14 * 24 * 3600_000


def settle_after_write(
    context: Context, receipt: Receipt, *, sync: bool = False
) -> Receipt:
    """Settle and exchange with the remote: now (with ``sync``, or by setting), in the
    background, or not at all. Returns the receipt with the result."""
    layout = Layout(context.place.root)
    committing = context.place.kind == BRANCH_STORE
    is_inline = sync or context.settings.sync == "inline"
    notes = [*receipt.notes]
    if is_inline:
        notes.extend(start_settling(context, sync=sync))
        receipt = receipt._replace(idx=_number_now(context, receipt))
    marker = f"{layout.unsettled}/{file_name(receipt.topic)}"
    committed = is_inline and committing and not os.path.lexists(marker)
    following = _following(context, receipt)
    notes.extend(_trouble_notes(layout))
    if not is_inline:
        if committing:
            notes.extend(_unopened_notes(context, layout))
        notes.extend(_refusal_notes(context, layout))
    notes.extend(_seat_notes(context, receipt))
    notes.extend(_wake_notes(context, layout, receipt))
    notes.extend(_elsewhere_notes(context))
    notes.extend(context.former_targets)
    pushed = _is_pushed(context, committed=committed) if committing else None
    # At the end: the background processes are copies of this one, and the kernel copies
    # each memory page that this one changes while both run.
    snapshots = _snapshots(context, layout, receipt)
    if not is_inline:
        notes.extend(start_settling(context, snapshots))
    elif snapshots:
        with contextlib.suppress(OSError):
            spawn.start_all(snapshots, context.env, may_fork=context.owns_process)
    carried = "" if pushed or not committed else _way_of(context, layout, receipt)
    stays_here = pushed is False and not (carried or _pushes_by_itself(context))
    return receipt._replace(
        committed=committed,
        pushed=pushed,
        carried=carried,
        stays_here=stays_here,
        next=following,
        notes=tuple(notes),
    )


def _number_now(context: Context, receipt: Receipt) -> int:
    """Return the entry's number after an exchange: older entries may have come."""
    reader = context.reader
    with contextlib.suppress(WcError, ValueError):
        thread = reader.find(receipt.topic)
        if reader.snapshot(thread).state.entry_count > receipt.idx + 1:
            ids = [entry.id for entry in reader.thread(thread).entries]
            return ids.index(receipt.entry_id)
    return receipt.idx


def _following(context: Context, receipt: Receipt) -> str:
    """Return the command that is due after this one: to land what was approved."""
    is_closed = receipt.status == CLOSED
    if not (is_closed and unlanded.is_approved(context.reader, receipt.topic)):
        return ""
    landings.refresh(context.place.root, context.env, [receipt.topic])
    moves = unlanded.own_landings(context.reader, context.viewer.holds)
    is_due = receipt.topic in moves and moves[receipt.topic].kind == LAND
    return f"wc land {quoted(receipt.topic)}" if is_due else ""


def _snapshots(context: Context, layout: Layout, receipt: Receipt) -> list[spawn.Task]:
    """The task of keeping a snapshot of the worktree for the next review, if the ball
    was passed to someone else. Without a snapshot, the review uses the entry's
    commit."""
    repository = context.place.repository
    holder = receipt.ball
    if holder is None or holder == receipt.previous_ball:
        return []
    if context.settings.sync == "off" or context.viewer.is_me(holder):
        return []
    if repository is None or not repository.top:
        return []
    written = (receipt.topic, receipt.entry_id)
    return [spawn.snapshot_task(layout, repository.top, written)]


def start_settling(
    context: Context, tasks: Sequence[spawn.Task] = (), *, sync: bool = False
) -> list[str]:
    """Settle and exchange with the remote: now (with ``sync``, or by setting), in the
    background with these ``tasks``, or not at all. Returns notes about failures."""
    mode = "inline" if sync else context.settings.sync
    try:
        if mode == "inline":
            from wc_cli.run.entries import inline  # 35 ms, usually in the background

            return inline.settle_and_exchange(context, by_option=sync)
        if mode == "background":
            layout = Layout(context.place.root)
            spawn.start(layout, context.env, *tasks, may_fork=context.owns_process)
    except (WcError, OSError) as error:
        return [f"settling could not be started: {error}"]
    return []


def _wake_notes(context: Context, layout: Layout, receipt: Receipt) -> list[str]:
    """Return why the passed ball wakes nobody here, if agents can be woken."""
    if receipt.ball == receipt.previous_ball or not receipt.ball:
        return []
    if not os.path.isdir(private_layout(layout).waiters):
        return []
    reason = _wake_obstacle(context, layout, receipt)
    return [f"not woken: {reason}"] if reason else []


def _wake_obstacle(context: Context, layout: Layout, receipt: Receipt) -> str:
    """Return why the agent that got a ball is not woken here. Empty for a person, for
    an agent that waits for balls or is working, and if no one has been woken for two
    weeks, because no one expects it then."""
    from wc_core.attention.wake import waiters  # 3 ms, only where agents are woken

    name, directory = parse(receipt.ball or ""), context.settings.directory
    if not directory.is_agent(name):
        return ""
    if waiters.off_until_ms(layout) > now_ms():
        return "waking is off here (wc wake on)"
    key = safe_name(directory.key(name))
    seen_ms, held_back = 0, False
    for waiter in waiters.sessions(layout):
        seen_ms = max(seen_ms, waiter.since_ns // 1_000_000)
        if key in waiter.keys and waiter.is_running and not waiter.is_deaf:
            if not waiter.is_waiting or _may_wake(context, receipt.topic, waiter):
                return ""
            held_back = True
    if held_back:
        sender = context.identity.author
        return f"balls of {sender} wake no one here (wc config get wake.from)"
    if now_ms() - seen_ms > _WAKING_LASTS_MS:
        return ""
    return f"{name.agent} has no session here that can be woken"


def _may_wake(context: Context, topic: str, waiter: Waiter) -> bool:
    """Return whether the ball may wake a session. It was passed just now, so it did
    not come with a carrier."""
    # 3 ms, only where agents are woken
    from wc_core.attention.wake.senders import Waking
    from wc_core.ledger.configuration import preferences
    from wc_core.people.identity.resolve import Identity
    from wc_core.people.identity.viewer import Viewer

    name = parse(waiter.agent)
    identity = Identity(name, "waiter", behind=waiter.person or name.tag)
    viewer = Viewer(identity, context.settings.directory)
    allowed = preferences.load(context.env).wake_from
    try:
        thread = context.reader.thread(topic)
    except WcError:
        return False
    return bool(Waking(context.reader, viewer, allowed).verdict(thread))


def _seat_notes(context: Context, receipt: Receipt) -> list[str]:
    """Note which worktree has the seat that got the ball: it may get another name.
    Return that none has it, and what moves the ball; for an agent in the cloud, what
    starts it."""
    if receipt.ball == receipt.previous_ball or "@" not in (receipt.ball or ""):
        return []
    from wc_cli.ledger.store import seatnames  # 1 ms, only for balls at seats
    from wc_cli.run.entries.lostseats import LostSeats, cloud_start

    if start := cloud_start(receipt.ball or "", receipt.topic):
        return [f"you start it in the cloud: {start}"]
    if context.place.repository is not None:
        seatnames.note_all(context.place.repository)
    seats = LostSeats(context)
    return [
        f"no worktree here has the seat of {receipt.ball}; "
        f"to move the ball: {seats.command(state)}"
        for state in seats.lost([receipt.topic])
    ]


def _elsewhere_notes(context: Context) -> list[str]:
    """Return that the entry is not in the store of the current repository, which has
    one, because ``--store`` or ``WATERCOOLER_DIR`` names another."""
    code, named = context.place.repository, context.env.get("WATERCOOLER_DIR", "")
    if code is None or not named:
        return []
    env = {**context.env, "WATERCOOLER_DIR": ""}
    try:
        own = discovery.find(context.cwd, env)
    except WcError:
        return []  # reported by each command without the variable
    if own.root == context.place.root or not (own.exists or own.branch_exists):
        return []
    note = (
        "this is in the store that --store or WATERCOOLER_DIR names, not in the "
        f"threads of {code.name}; to write there, leave both out"
    )
    return [note]


def _trouble_notes(layout: Layout) -> list[str]:
    """Return the failures of the last settling, which every write repeats until it
    succeeds."""
    if not os.path.lexists(layout.settling):
        return []
    from wc_cli.ledger.store import pending  # 0.1 ms, only after a failure

    trouble = pending.last_trouble(layout.root)
    if trouble is None:
        return []
    return [f"settling, at {trouble.at}: {trouble.problem} (see: wc doctor)"]


def _unopened_notes(context: Context, layout: Layout) -> list[str]:
    """Return why git opens no repository here: the process in the background finds
    that out after this receipt. Git is asked before the first settling, and where
    another user or another version of git may have made the repository."""
    checkout = context.store_repository
    if checkout is None or os.path.lexists(layout.settling):
        return []  # then `_trouble_notes` has it
    if (
        os.path.lexists(layout.git_lock)
        and os.stat(checkout.common).st_uid == os.geteuid()
        and config.get(_FORMAT, checkout, context.env) in {"", "0"}
    ):
        return []
    from wc_cli.ledger.branch.git import Git, GitError  # 3 ms, seldom

    until = time.monotonic() + _GIT_SECONDS
    try:
        Git(layout.root, context.env, until=until).run("rev-parse")
    except GitError as error:
        if time.monotonic() < until:  # else it has only been slow
            return [f"not committed: {error} (see: wc doctor)"]
    return []


def _refusal_notes(context: Context, layout: Layout) -> list[str]:
    """Return, on an agent's branch, that the remote refused the last push, and what
    helps."""
    code, rules = context.place.repository, context.settings
    if code is None or not modes.is_agents(code.branch, rules.agents_branches):
        return []
    if not os.path.lexists(layout.sync_state):
        return []
    from wc_cli.bridges.carry import automatic  # 20 ms, on agents' branches

    problem = automatic.refusal(layout)
    if not problem or modes.mode(rules, context.env) != ASK:
        return []
    offer = automatic.offer(code, context.env, rules)
    return [f"{problem}. {offer}"] if offer else []


def _is_pushed(context: Context, *, committed: bool) -> bool | None:
    """Return whether the remote has the entry; ``None`` without a remote."""
    checkout = context.store_repository
    if checkout is None or not remotes.names(checkout, context.env):
        return None
    if not committed:
        return False
    remote = remotes.find(checkout, context.env)
    if remote is None:
        return False
    return checkout.commit == repository.resolve(checkout, remote.tracking)


def _pushes_by_itself(context: Context) -> bool:
    """Return whether the entry goes to the remote without a command: in the background,
    or with the next write."""
    settings, checkout = context.settings, context.store_repository
    if settings.sync == "off" or not settings.push or checkout is None:
        return False
    remote = remotes.find(checkout, context.env)
    # The first push is up to the user.
    return remote is not None and bool(repository.resolve(checkout, remote.tracking))


def _way_of(context: Context, layout: Layout, receipt: Receipt) -> str:
    """Return with what the entry travels because it cannot be pushed; usually empty."""
    if not os.path.lexists(layout.carried):
        return ""
    # 1 ms, only where entries travel
    from wc_core.ledger.git import carried as carriers

    carried = carriers.current(layout, context.store_repository)
    found = carried is not None and receipt.entry_id in carried.ids
    return carried.way if carried is not None and found else ""


def print_receipt(
    receipt: Receipt, *, as_json: bool, topic_first: bool = False
) -> None:
    """Print a receipt: what was saved, who has the ball, what is pending. It begins
    with the topic if the command did not name it."""
    try:
        if as_json:
            output.say_json(receipt.to_json())
            return
        sentence = _receipt_sentence(receipt, topic_first=topic_first)
        output.say(one_line(sentence))
    except (StorageError, BrokenPipeError) as error:
        # The entry is on disk; retrying would write it twice.
        output.discard_output()
        saved = one_line(f"{receipt.topic} #{receipt.idx}")
        output.remark(f"note: saved {saved}, but: {one_line(str(error))}")
    for note in receipt.notes:
        output.remark(f"note: {one_line(note)}")


def _receipt_sentence(receipt: Receipt, *, topic_first: bool) -> str:
    saved = f"saved {receipt.topic} #{receipt.idx}"
    if topic_first:
        saved = f"{receipt.topic}: saved #{receipt.idx}"
    ball = f"ball: {holder_text(receipt.ball)}"
    if receipt.ball != receipt.previous_ball and receipt.idx:
        ball = (
            f"ball: {holder_text(receipt.previous_ball)} → {holder_text(receipt.ball)}"
        )
    facts = [saved, *([receipt.deed] if receipt.deed else []), ball]
    if receipt.status != "OPEN" or receipt.is_new_status:
        facts.append(receipt.status)
    if receipt.committed:
        facts.append("committed")
    if receipt.carried:
        facts.append(f"travels with {receipt.carried}")
    elif receipt.pushed or receipt.stays_here:
        facts.append("pushed" if receipt.pushed else "not pushed: wc sync")
    if receipt.next:
        facts.append(f"next: {receipt.next}")
    return " · ".join(facts)
