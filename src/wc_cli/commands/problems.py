"""``wc problems``: only what needs a human, one line each.

Leaves out problems that resolve themselves, and those that only `wc doctor` finds
because it reads every log. Threads are checked by their state, most recent changes
first, for as long as a brief may take.
"""

from __future__ import annotations

import contextlib
import os
import time

from wc_cli.agents.briefing.gather import deadline
from wc_cli.commands import doctor
from wc_cli.commands.common import SpeakerOptions
from wc_cli.ledger.clock import now_ms
from wc_cli.ledger.doctor.findings import Finding
from wc_cli.ledger.store import lockowners, locks
from wc_cli.run.options import command, flag
from wc_cli.run.output import say, say_json
from wc_core.attention.notify import targets
from wc_core.base.errors import FindingsError, NotFoundError, WcError
from wc_core.base.files import names_in
from wc_core.base.layout import topic_of
from wc_core.base.phrases import counted, quoted, with_home
from wc_core.base.text import one_line
from wc_core.base.times import age_text, ago, seconds_between
from wc_core.edits.review import outcomes
from wc_core.ledger.carry import records
from wc_core.ledger.configuration import preferences
from wc_core.ledger.configuration.keys import NO_RULES
from wc_core.ledger.git import storefolder
from wc_core.ledger.git.discovery import BRANCH_STORE
from wc_core.ledger.git.private import private_layout
from wc_core.ledger.planning import linkfiles
from wc_core.ledger.rules.auditing import overdue
from wc_core.ledger.threads.model import holder_text
from wc_core.ledger.threads.moves import bounces_text
from wc_core.people.activity.statefile import StateFiles
from wc_core.reading.views import entries as entry_views
from wc_core.reading.views import planning, worktrees
from wc_core.reading.views.approvals import load_outdated
from wc_core.reading.views.conflicts import load_conflicts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from wc_cli.run.context import Context
    from wc_core.ledger.threads.model import State
    from wc_core.ledger.threads.reader import StoreReader, Thread
    from wc_core.ledger.threads.settings import Settings

_MAX_NAMES = 3
# Settling and exchanging take less than this many seconds.
_HANGS = 600.0


class ProblemsOptions(SpeakerOptions):
    """Show only what needs a human, one line each, with the fix. Exits 9 if
    there is anything."""

    all: bool = flag("--all", help="Check every thread, without a time limit.")


@command(ProblemsOptions)
def problems(context: Context, options: ProblemsOptions) -> None:
    """Show the problems."""
    search = _ProblemSearch(context, _never if options.all else deadline(context))
    findings = list(search.findings())
    if options.json:
        left_out = {"left_out": search.unchecked} if search.unchecked else {}
        rows = [finding._asdict() for finding in findings]
        say_json({"store": search.store, "problems": rows, **left_out})
    elif findings:
        say("\n".join(map(_finding_line, findings)))
    else:
        say(f"No problems.{search.unchecked_text}")
    if findings:
        count = counted(len(findings), "problem")
        raise FindingsError(
            f"{count}.{search.unchecked_text}", "The lines above say what to do."
        )


def _never() -> bool:
    return False


def _finding_line(finding: Finding) -> str:
    place = f"{finding.file}:{finding.line}" if finding.line else finding.file
    return one_line(f"{place}: {finding.message} -> {finding.fix}")


class _ProblemSearch:
    """The search for what needs a human. ``unchecked`` counts the threads for which
    time ran out. ``store`` is the store's name, ``None`` if it cannot be used."""

    def __init__(self, context: Context, late: Callable[[], bool]) -> None:
        self.context = context
        self.late = late
        self.unchecked = 0
        self.store: str | None = None

    @property
    def unchecked_text(self) -> str:
        """Return what was not checked, as text."""
        if not self.unchecked:
            return ""
        threads = counted(self.unchecked, "thread")
        return f" {threads} not checked; to check all: wc problems --all"

    def findings(self) -> Iterator[Finding]:
        """Yield all findings. A problem with the store hides no loop."""
        try:
            place = self.context.place
            if place.exists:
                self.store = self.context.store
                yield from self._store_findings(self.context.reader)
            else:
                yield from doctor.missing_store_findings(self.context)
        except WcError as error:
            yield Finding("store", 0, error.message, error.hint)
        yield from self._loop_findings()
        yield from self._notification_findings()

    def _notification_findings(self) -> Iterator[Finding]:
        """Yield that the person could not be notified."""
        own, env = preferences.load(self.context.env), self.context.env
        for line in targets.former(own):
            yield Finding("notify", 0, *line.split(". ", 1))
        if self.store is None or not targets.is_wanted(own):
            return
        from wc_cli.bridges.notify import notifying  # 12 ms, for those who want that

        if problem := notifying.last_problem(self.context.place.root, env):
            message = f"the last notification failed: {problem}"
            yield Finding("notify", 0, message, "See: wc config --global list")

    def _store_findings(self, reader: StoreReader) -> Iterator[Finding]:
        yield from doctor.settings_findings(self.context)
        yield from doctor.stray_findings(reader, deep=False)
        yield from doctor.settling_findings(reader)
        if self.context.place.kind == BRANCH_STORE:
            yield from doctor.exchange_findings(self.context)
            yield from self._set_aside_findings()
            yield from _harvest_findings(reader)
        yield from doctor.seat_findings(self.context)
        yield from _lock_findings(reader)
        yield from self._conflict_findings(reader)
        yield from self._wake_findings(reader)
        yield from self._quarantine_findings(reader)
        yield from self._thread_findings(reader)
        yield from self._cycle_findings(reader)

    def _set_aside_findings(self) -> Iterator[Finding]:
        """Yield stores that were set aside when this one was checked out. Only a human
        knows whether they matter."""
        checkout, env = self.context.store_repository, self.context.env
        folders = storefolder.set_aside(checkout, env) if checkout is not None else []
        for folder in folders:
            message = "belonged to an earlier repository here, and was set aside"
            fix = f"See what it has: wc doctor; then remove it: rm -r {quoted(folder)}"
            yield Finding(with_home(folder, env), 0, message, fix)

    def _conflict_findings(self, reader: StoreReader) -> Iterator[Finding]:
        """Yield what the current worktree will conflict with, and the approved branches
        that no longer merge."""
        repository, now = self.context.place.repository, now_ms()
        for conflict in load_conflicts(reader.layout, repository, now):
            fix = f"Agree on who changes what: wc conflicts {quoted(conflict.name)}"
            message = f"will conflict {conflict.sentence(_MAX_NAMES)}"
            yield Finding("this worktree", 0, message, fix)
        for approval in load_outdated(reader, now):
            message = approval.predicate(_MAX_NAMES)
            fix = "Rebase it, and have it reviewed again: wc radar"
            yield Finding(approval.name, 0, message, fix)

    def _wake_findings(self, reader: StoreReader) -> Iterator[Finding]:
        """Yield the balls that woke an agent which has not answered."""
        if not os.path.isdir(private_layout(reader.layout).wakes):
            return
        from wc_core.attention.wake import called  # 2 ms, only where agents are woken
        from wc_core.attention.wake.passes import WOKEN

        patience = preferences.load(self.context.env).wake_patience
        directory, now = self.context.settings.directory, now_ms()
        before_ms = now - patience * 60_000
        for state, passed in called.unanswered(reader, directory, before_ms):
            words = passed.sentence(now)
            if not passed.failure:
                when = ago(seconds_between(passed.at_ms, now))
                verb = "woken" if passed.state == WOKEN else "called"
                words = f"was {verb} {when} and has not answered"
            fix = f"See what it needs: wc read {quoted(state.name)}"
            yield Finding(state.name, 0, f"{passed.agent} {words}", fix)

    def _cycle_findings(self, reader: StoreReader) -> Iterator[Finding]:
        """Yield the links that don't count because two clones made a cycle."""
        if self.late() or not linkfiles.has_links(reader.layout):
            return
        plan = self.context.overview.plan()
        for (topic, link), sentence in planning.ignored_links(plan):
            name, other_name = map(plan.name, (topic, link.topic))
            message = f"{sentence} does not count: it closes a cycle"
            fix = f"Remove one of its links: wc unlink {name} {other_name}"
            yield Finding(name, 0, message, fix)

    def _quarantine_findings(self, reader: StoreReader) -> Iterator[Finding]:
        """Yield what a repair set aside. Only a human knows whether it matters."""
        layout = reader.layout
        for name in names_in(f"{layout.local}/quarantine", layout.root):
            file = f"{layout.local}/quarantine/{name}"
            path = os.path.relpath(file, layout.root)
            message = "was set aside by a repair"
            fix = f"Check it, then remove it: rm -r {quoted(file)}"
            yield Finding(path, 0, message, fix)

    def _thread_findings(self, reader: StoreReader) -> Iterator[Finding]:
        topics = _latest_first(reader)
        for count, topic in enumerate(topics):
            if self.late():
                self.unchecked = len(topics) - count
                return
            yield from _topic_findings(reader, topic, self.context.settings)
            yield from self._rule_findings(reader, topic)

    def _rule_findings(self, reader: StoreReader, topic: str) -> Iterator[Finding]:
        """Yield open threads that are older than the repository's rules allow."""
        if self.context.settings.rules == NO_RULES:
            return
        with contextlib.suppress(WcError):
            state = reader.snapshot(topic).state
            for violation in overdue(state, self.context.settings.rules, now_ms()):
                fix = f"See what it needs: wc read {quoted(violation.thread)}"
                message = f"{violation.rule}: {violation.message}"
                yield Finding(violation.thread, 0, message, fix)

    def _loop_findings(self) -> Iterator[Finding]:
        """Yield autonomous loops that wait for a human, or whose process has ended."""
        context = self.context
        query = worktrees.worktree_query(None, context.cwd, context.env, now_ms())
        for neighbour in worktrees.neighbours(query, StateFiles(), [], []):
            loop = neighbour.loop
            if loop is None or not (loop.waits_for_human or loop.orphaned):
                continue
            path = quoted(query.display_path(neighbour.worktree.path))
            fix = f"See what it waits for: cd {path} && wc worktrees"
            if loop.orphaned:
                fix = f"Start it again, or end it: cd {path} && wc worktrees"
            yield Finding(f"loop {neighbour.name}", 0, loop.summary, fix)


def _harvest_findings(reader: StoreReader) -> Iterator[Finding]:
    """Yield what was refused on the branches of agents. Only a human knows whether it
    matters."""
    for ref, row in records.harvests(reader.layout).items():
        name = ref.removeprefix("refs/remotes/").removeprefix("refs/heads/")
        is_local = ref.startswith("refs/heads/")
        branch = name if is_local else name.partition("/")[2]
        for refused in row.refused:
            message = f"{refused.place}: {refused.reason}"
            fix = f"See it: git log {quoted(name)}"
            fix += "; forget it: wc harvest --forget"
            yield Finding(branch, 0, message, fix)


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


def _latest_first(reader: StoreReader) -> list[str]:
    """Return the topics of a store, most recent changes first."""
    layout = reader.layout
    changed: dict[str, float] = {}
    if os.path.isdir(layout.threads):
        with os.scandir(layout.threads) as folder:
            for file in folder:
                changed[topic_of(file.name)] = file.stat(follow_symlinks=False).st_mtime
    return sorted(reader.topics(), key=lambda topic: -changed.get(topic, 0.0))


def _topic_findings(
    reader: StoreReader, topic: str, settings: Settings
) -> Iterator[Finding]:
    """Yield what is wrong with a thread, according to its state."""
    try:
        snapshot = reader.snapshot(topic)
        if lost := [damage for damage in snapshot.damage if damage.lost]:
            yield Finding(lost[0].file, lost[0].line, lost[0].message, _REPAIR)
        state = snapshot.state
        if state.forked:
            yield from _fork_findings(reader.thread(topic))
        if settings.bounces and state.bounces >= settings.bounces and state.ball:
            yield _bounce_finding(state)
        if outcomes.has_too_many_rounds(state, settings):
            yield from _review_findings(state)
    except NotFoundError:
        return
    except WcError as error:
        yield Finding(topic, 0, error.message, "See what is there: wc doctor")


_REPAIR = "Fix it: wc doctor --repair"


def _bounce_finding(state: State) -> Finding:
    """Return a finding for a ball that only goes back and forth."""
    message, _, ways_on = bounces_text(state).partition("; ")
    return Finding(state.topic, 0, message, ways_on)


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
