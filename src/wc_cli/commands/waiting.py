"""What waits for a person, among the findings of ``wc doctor``: nothing is damaged, but
it does not resolve itself."""

from __future__ import annotations

import contextlib
import os
import time

from wc_cli.ledger.clock import now_ms
from wc_cli.ledger.doctor.findings import Finding
from wc_cli.ledger.store import lockowners, locks
from wc_cli.run.entries.lostseats import LostSeats
from wc_core.attention.notify import targets
from wc_core.base.errors import WcError
from wc_core.base.phrases import quoted
from wc_core.base.times import age_text, ago, seconds_between
from wc_core.edits.review import outcomes
from wc_core.ledger.carry import records
from wc_core.ledger.configuration import preferences
from wc_core.ledger.git.discovery import BRANCH_STORE
from wc_core.ledger.git.private import private_layout
from wc_core.ledger.rules.enforcing import Audit
from wc_core.ledger.threads.model import holder_text
from wc_core.ledger.threads.moves import bounces_text
from wc_core.people.activity import StateFiles
from wc_core.reading.views import entries as entry_views
from wc_core.reading.views import planning, worktrees
from wc_core.reading.views.approvals import load_outdated
from wc_core.reading.views.conflicts import load_conflicts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from wc_cli.run.context import Context
    from wc_core.ledger.rules.enforcing import Violation
    from wc_core.ledger.threads.model import State
    from wc_core.ledger.threads.reader import StoreReader, Thread
    from wc_core.ledger.threads.settings import Settings

_MAX_NAMES = 3
# Settling and exchanging take less than this many seconds.
_HANGS = 600.0
# Someone who was called for a ball has this long to answer.
_PATIENCE_MS = 15 * 60_000


class ThreadJudge:
    """Judges the threads of a store, thread by thread."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._audit = Audit(settings.rules, settings.directory)

    def of_thread(self, thread: Thread) -> Iterator[Finding]:
        """Yield what a person has to decide in a thread."""
        state, settings = thread.state, self._settings
        if state.forked:
            yield from _fork_findings(thread)
        if settings.bounces and state.bounces >= settings.bounces and state.ball:
            message, _, ways_on = bounces_text(state).partition("; ")
            yield Finding(state.topic, 0, message, ways_on)
        if outcomes.has_too_many_rounds(state, settings):
            yield from _review_findings(state)
        yield from _rule_findings(self._audit.of_thread(state, thread.entries))

    def of_holders(self) -> Iterator[Finding]:
        """Yield who has more balls than a rule allows, in the threads judged."""
        yield from _rule_findings(self._audit.of_holders())


def store_findings(context: Context) -> Iterator[Finding]:
    """Yield what waits in a store, besides its threads one by one."""
    try:
        yield from _store_findings(context)
    except WcError as error:
        yield Finding("store", 0, error.message, error.hint)


def _store_findings(context: Context) -> Iterator[Finding]:
    reader = context.reader
    yield from _seat_findings(context)
    if context.place.kind == BRANCH_STORE:
        yield from _refused_findings(reader)
    yield from _lock_findings(reader)
    yield from _conflict_findings(context)
    yield from _wake_findings(context)
    yield from _cycle_findings(context)
    if targets.is_wanted(preferences.load(context.env)):
        from wc_cli.bridges.notify import notifying  # 12 ms, for those who want that

        if problem := notifying.last_problem(context.place.root, context.env):
            message = f"the last notification failed: {problem}"
            yield Finding("notify", 0, message, "See: wc config --global list")


def outside_findings(context: Context) -> Iterator[Finding]:
    """Yield what waits outside of the store: autonomous loops that wait for a human, or
    whose process has ended, and targets of notifications that went."""
    viewer = (context.cwd, context.env, now_ms())
    view = worktrees.worktree_view(viewer, StateFiles())
    for tree in view.neighbours:
        if not tree.loop.keys() & {"waits_for_human", "orphaned"}:
            continue
        path = quoted(view.query.display_path(tree.worktree.path))
        fix = f"See what it waits for: cd {path} && wc worktrees"
        if "orphaned" in tree.loop:
            fix = f"Start it again, or end it: cd {path} && wc worktrees"
        yield Finding(f"loop {tree.name}", 0, tree.loop["says"], fix)
    for line in targets.former(preferences.load(context.env)):
        yield Finding("notify", 0, *line.split(". ", 1))


def _seat_findings(context: Context) -> Iterator[Finding]:
    """Yield the threads whose balls wait where nobody can work."""
    seats = LostSeats(context)
    for state in seats.all_lost():
        message = f"the ball is for {state.ball}, and no worktree here has that seat"
        yield Finding(state.name, 0, message, f"Pass it on: {seats.command(state)}")


def _conflict_findings(context: Context) -> Iterator[Finding]:
    """Yield what the current worktree will conflict with, and the approved branches
    that no longer merge."""
    reader, now = context.reader, now_ms()
    for conflict in load_conflicts(reader.layout, context.place.repository, now):
        fix = f"Agree on who changes what: wc radar {quoted(conflict.name)}"
        message = f"will conflict {conflict.sentence(_MAX_NAMES)}"
        yield Finding("this worktree", 0, message, fix)
    for approval in load_outdated(reader, now):
        message = approval.predicate(_MAX_NAMES)
        fix = "Rebase it, and have it reviewed again: wc radar"
        yield Finding(approval.name, 0, message, fix)


def _wake_findings(context: Context) -> Iterator[Finding]:
    """Yield the balls that woke an agent which has not answered in time, or could not
    wake one."""
    reader = context.reader
    if not os.path.isdir(private_layout(reader.layout).wakes):
        return
    # 2 ms, only where agents are woken
    from wc_core.attention.wake.passes import ANSWERED, WOKEN, called_balls

    directory, now = context.settings.directory, now_ms()
    for state, passed in called_balls(reader, directory):
        is_late = passed.state != ANSWERED and passed.at_ms <= now - _PATIENCE_MS
        if not passed.failure and (passed.is_of_run or not is_late):
            continue
        words = passed.sentence(now)
        if not passed.failure:
            when = ago(seconds_between(passed.at_ms, now))
            verb = "woken" if passed.state == WOKEN else "called"
            words = f"was {verb} {when} and has not answered"
        fix = f"See what it needs: wc read {quoted(state.name)}"
        yield Finding(state.name, 0, f"{passed.agent} {words}", fix)


def _cycle_findings(context: Context) -> Iterator[Finding]:
    """Yield the links that don't count because two clones made a cycle."""
    plan = context.overview.plan()
    for (topic, link), sentence in planning.ignored_links(plan):
        name, other_name = map(plan.name, (topic, link.topic))
        message = f"{sentence} does not count: it closes a cycle"
        fix = f"Remove one of its links: wc unlink {name} {other_name}"
        yield Finding(name, 0, message, fix)


def _rule_findings(violations: Iterable[Violation]) -> Iterator[Finding]:
    """Yield the threads that violate the repository's rules."""
    for violation in violations:
        fix = f"See what it needs: wc read {quoted(violation.thread)}"
        message = f"{violation.rule}: {violation.message}"
        yield Finding(violation.thread, 0, message, fix)


def _refused_findings(reader: StoreReader) -> Iterator[Finding]:
    """Yield what was refused on the branches of agents. Only a human knows whether it
    matters."""
    for ref, row in records.harvests(reader.layout).items():
        name = ref.removeprefix("refs/remotes/")
        for refused in row.refused:
            message = f"{refused.place}: {refused.reason}"
            fix = f"See it: git log {quoted(name)}; forget it: wc doctor --repair"
            yield Finding(name.partition("/")[2], 0, message, fix)


def _lock_findings(reader: StoreReader) -> Iterator[Finding]:
    """Yield the locks that a process has held for much longer than its work takes."""
    layout = reader.layout
    for path in (layout.git_lock, layout.sync_lock):
        held = time.time() - _signed_at(path)
        if held < _HANGS:
            continue
        if not _is_held(path, layout.root):
            continue  # the signature is an earlier holder's
        name = os.path.relpath(path, layout.root)
        holder = lockowners.current_holder(path)
        message = f"held for {age_text(int(held))} by {holder}"
        yield Finding(name, 0, message, how_to_end(holder, path))


def how_to_end(holder: lockowners.Holder, path: str) -> str:
    """Return how to end the holder of a lock. A process id only means something on its
    own machine, while the process runs."""
    if holder.is_alive:
        return f"If it hangs, end it: kill {holder.pid}"
    if holder.machine not in {"", os.uname().nodename}:
        return "If it hangs, end it there."
    return f"See who has it open: lsof {quoted(path)}"


def _is_held(path: str, root: str) -> bool:
    """Return whether a process holds a lock; False if the file cannot be opened."""
    with contextlib.suppress(WcError):
        handle = locks.try_acquire(path, root)
        if handle is None:
            return True
        os.close(handle)
    return False


def _signed_at(path: str) -> float:
    """Return when a lock was taken, in seconds since 1970; now if it never was."""
    try:
        return os.lstat(path).st_mtime
    except OSError:
        return time.time()


def _review_findings(state: State) -> Iterator[Finding]:
    """Yield a finding if changes were requested too often and the ball is still with
    the same participant."""
    if state.ball in {state.review.by, state.review.of}:
        message, _, ways_on = outcomes.rounds_text(state).partition("; ")
        yield Finding(state.topic, 0, message, ways_on)


def _fork_findings(thread: Thread) -> Iterator[Finding]:
    """Yield a finding if both sides of a fork passed the ball: the later holder then
    has it, although nobody decided so. The next entry joins any other fork."""
    topic = thread.state.topic
    forked = [item.entry for item in entry_views.numbered(thread) if item.forked]
    sides = {entry.ball.holder for entry in forked if entry.ball is not None}
    if len(sides) > 1:
        names = ", ".join(sorted(map(holder_text, sides))[:_MAX_NAMES])
        message = (
            f"two clones passed its ball, to {names}; "
            f"{holder_text(thread.state.ball)} has it"
        )
        fix = f"Decide who has it: wc handoff {quoted(topic)} --to NAME --reason …"
        yield Finding(topic, 0, message, fix)
