"""``wc doctor``: checks everything, and reports what is wrong and how to repair it.

Changes nothing without ``--repair``, except that it creates two refs on the remote and
removes them again, to see whether the remote accepts claims. Every check is a function
that yields findings. A check that cannot be made is itself a finding.
"""

from __future__ import annotations

import contextlib
import os

from wc_cli.agents.briefing.coverage import coverage, coverage_text
from wc_cli.agents.install import hookstate, searchpath
from wc_cli.agents.install.command import install_site
from wc_cli.agents.install.ledger import Ledger
from wc_cli.bridges.carry import harvesting
from wc_cli.bridges.enrich import following
from wc_cli.commands import waiting
from wc_cli.ledger.branch import checkouts, commits, git, owners, trees
from wc_cli.ledger.branch.git import GitError
from wc_cli.ledger.branch.treepaths import is_safe
from wc_cli.ledger.clock import now_ms
from wc_cli.ledger.doctor.findings import SET_ASIDE, Finding, ThreadExaminer
from wc_cli.ledger.doctor.repair import Repair, RepairStep
from wc_cli.ledger.doctor.strays import find_strays, obstruction
from wc_cli.ledger.settle import reports
from wc_cli.ledger.store import lockowners, pending, sharedlines
from wc_cli.ledger.store.localfiles import LineStamp
from wc_cli.run.context import other_home_text
from wc_cli.run.entries.localtopic import chosen_text
from wc_cli.run.options import Options, command, flag
from wc_cli.run.output import say, say_json
from wc_core.base import variables
from wc_core.base.errors import (
    FindingsError,
    InvalidInputError,
    LockTimeoutError,
    WcError,
)
from wc_core.base.files import names_in, read_plain
from wc_core.base.layout import Layout
from wc_core.base.phrases import bounded, counted, quoted, with_home
from wc_core.base.text import one_line
from wc_core.base.values import NamedTuple
from wc_core.edits.claims import book as books
from wc_core.edits.graph import parsing
from wc_core.ledger.configuration import preferences
from wc_core.ledger.configuration.keys import about_unknown
from wc_core.ledger.git import discovery, storefolder
from wc_core.ledger.git.discovery import BRANCH_STORE
from wc_core.ledger.slowstart import slow_start
from wc_core.ledger.threads.reader import StoreReader
from wc_core.reading.meaning.report import meaning_report

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from wc_cli.ledger.doctor.setaside import SetAsideStores
    from wc_cli.run.context import Context

_LEAST_GIT = (2, 38)
# The paths that the command of one finding removes.
_SHOWN = 10
_MAX_FORKED = 20
_FORMER_HARVEST = (
    "config.toml: carry.harvest is no longer a setting. While it is there, entries of "
    "agents' branches are only taken by wc sync --carry. Instead: wc config set "
    "carry.mode ask; then remove it: wc config unset carry.harvest"
)
_FIX_AND_SYNC = "Your entries are safe here. Once that is fixed: wc sync"


class DoctorOptions(Options):
    """Check everything; show each problem, what waits for a person, and what to do.
    Exits 9 if there is any."""

    repair: bool = flag("--repair", help="Repair what can be repaired without loss.")
    dry_run: bool = flag("--dry-run", help="With --repair: only show what it would do.")
    all: bool = flag(
        "--all", help="Also note what is not installed, and guards without a claim."
    )


_JSON_NAMES = {"repaired": "mended"}


class DoctorReport(NamedTuple):
    """The number of things checked, and the problems. ``waiting`` is what waits for
    a person, though nothing is damaged; ``notes`` are worth knowing, but not problems;
    ``graph`` tells whether files can be parsed for symbols and
    neighbours, ``meaning`` what searches use besides words."""

    store: str
    kind: str
    threads: int
    entries: int
    findings: tuple[Finding, ...]
    waiting: tuple[Finding, ...] = ()
    notes: tuple[str, ...] = ()
    repaired: tuple[RepairStep, ...] = ()
    graph: bool = False
    meaning: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return the doctor shape."""
        rows = {
            name: [row._asdict() for row in getattr(self, name)]
            for name in ("findings", "waiting", "repaired")
        }
        fields = {**self._asdict(), **rows}
        # Scripts know the steps by the key "mended".
        return {_JSON_NAMES.get(name, name): value for name, value in fields.items()}


@command(DoctorOptions)
def doctor(context: Context, options: DoctorOptions) -> None:
    """Check everything."""
    if options.dry_run and not options.repair:
        raise InvalidInputError("--dry-run only works with --repair.", "Give both.")
    repaired, failures = _repair_store(context, options) if options.repair else ((), ())
    report = examine_store(context, is_all=options.all)._replace(repaired=repaired)
    report = _with_graph(report, is_all=options.all)
    report = _with_meaning(report, context, is_all=options.all)
    report = report._replace(notes=(*report.notes, *_own_notes(context)))
    if report.findings:
        # A failed step matters only as the cause of a remaining finding.
        report = report._replace(findings=(*report.findings, *failures))
    if options.json:
        say_json(report.to_json())
    else:
        _print_report(report, dry_run=options.dry_run)
    if count := len(report.findings) + len(report.waiting):
        raise FindingsError(
            f"{counted(count, 'problem')} found.",
            "The lines above say what to do.",
        )


def _repair_store(
    context: Context, options: DoctorOptions
) -> tuple[tuple[RepairStep, ...], tuple[Finding, ...]]:
    """Repair the store. Returns the steps, and what failed; both are empty if there is
    no usable store."""
    try:
        place = context.place
    except WcError:
        return (), ()
    if not place.exists:
        return (), ()
    repair = Repair(place.root, context.env, dry_run=options.dry_run)
    repaired = tuple(repair.run())
    with contextlib.suppress(LockTimeoutError):  # a harvest is at work
        refused = harvesting.forget_refused(place.root, dry_run=options.dry_run)
        repaired += tuple(RepairStep(*row) for row in refused)
    if not options.dry_run:
        # Everything works without the index; a note tells what is lost.
        with contextlib.suppress(WcError, ImportError):
            from wc_cli.ledger.index import cachefile  # as in `_index_problem`

            cachefile.remake(place.root)
    fix = "Fix that, then run again: wc doctor --repair"
    return repaired, tuple(Finding("repair", 0, text, fix) for text in repair.failures)


def _with_graph(report: DoctorReport, *, is_all: bool) -> DoctorReport:
    """The report, with the state of the parsers that the extra installs."""
    if not parsing.missing_modules():
        return report._replace(graph=True)
    if not is_all:
        return report
    note = (
        f"symbols and neighbours are unknown: {parsing.EXTRA} is not installed "
        "(docs/edits.md#symbols-and-neighbours)"
    )
    return report._replace(notes=(*report.notes, note))


def _with_meaning(
    report: DoctorReport, context: Context, *, is_all: bool
) -> DoctorReport:
    """The report, with what searches use besides words."""
    if not report.kind:
        return report  # there is no store
    layout, personal = Layout(context.place.root), preferences.load(context.env)
    state = meaning_report(layout, personal, report.entries)
    is_hidden = state.is_plain or (state.is_optional and not is_all)
    notes = report.notes if is_hidden else (*report.notes, state.sentence)
    return report._replace(meaning=state.sentence, notes=notes)


def _print_report(report: DoctorReport, *, dry_run: bool) -> None:
    threads = counted(report.threads, "thread")
    entries = counted(report.entries, "entry", "entries")
    say(f"{one_line(report.store)}: {threads}, {entries}")
    word = "would repair" if dry_run else "repaired"
    for step in report.repaired:
        say(one_line(f"{word} {step.file}: {step.what}"))
    lines = [*map(str, report.findings)]
    if report.waiting:
        lines += ["Waiting for a person:", *map(str, report.waiting)]
    say("\n".join(lines) or "Nothing is wrong.")
    for note in report.notes:
        say(one_line(f"note: {note}"))


def examine_store(context: Context, *, is_all: bool = False) -> DoctorReport:
    """Run every check that is possible here. Returns the findings, with ``is_all`` also
    notes about what nobody here has used yet."""
    report = _examined_store(context, is_all=is_all)
    outside = waiting.outside_findings(context)
    return report._replace(waiting=(*report.waiting, *outside))


def _examined_store(context: Context, *, is_all: bool) -> DoctorReport:
    findings = list(_git_findings(context))
    try:
        place = context.place
    except discovery.HomeFolderError as error:
        # No finding: after installing, people run `wc doctor` outside of repositories,
        # too.
        note = f"{error.message} {error.hint}"
        return DoctorReport("no store", "", 0, 0, tuple(findings), notes=(note,))
    except WcError as error:
        findings.append(Finding("store", 0, error.message, error.hint))
        return DoctorReport("no store", "", 0, 0, tuple(findings))
    if not place.exists:
        findings += _missing_store_findings(context)
        store = "no store" if place.branch_exists else context.store
        notes = tuple(filter(None, [context.unasked]))
        return DoctorReport(store, place.kind, 0, 0, tuple(findings), notes=notes)
    reader = context.reader
    judge = waiting.ThreadJudge(context.settings)
    examined = ThreadExaminer(reader, context.env, judge.of_thread)
    findings += _settings_findings(context)
    findings += _stray_findings(reader)
    findings += _settling_findings(reader)
    findings += examined.findings()
    if place.kind == BRANCH_STORE:
        findings += _checkout_findings(context, reader)
        findings += _exchange_findings(context)
        findings += _owner_findings(context)
    return DoctorReport(
        context.store,
        place.kind,
        examined.threads,
        examined.entries,
        tuple(findings),
        (
            *examined.waiting,
            *judge.of_holders(),
            *waiting.store_findings(context),
        ),
        tuple(_report_notes(context, examined, is_all=is_all)),
    )


def _git_findings(context: Context) -> Iterator[Finding]:
    try:
        version = git.version(context.env)
    except GitError as error:
        yield Finding("git", 0, str(error), "Install git 2.38 or newer.")
        return
    if version < _LEAST_GIT:
        number = ".".join(map(str, version))
        yield Finding("git", 0, f"git {number} is too old", "Install 2.38 or newer.")


def _missing_store_findings(context: Context) -> Iterator[Finding]:
    """Yield findings about a store that is not checked out: its branch exists, or an
    earlier repository left something in its place."""
    place = context.place
    yield from _unwritable_findings(context)
    if place.branch_exists:
        error = discovery.not_checked_out_error()
        yield Finding("store", 0, error.message, error.hint)
    if place.kind != BRANCH_STORE or place.repository is None:
        return
    code = place.repository
    try:
        git.Git(code.top or code.common, context.env).run("rev-parse")
    except GitError as error:
        yield Finding("git", 0, str(error), "Run git status in this repository.")
    try:
        checkouts.refuse_obstructed_branch(code)
    except WcError as error:
        yield Finding("store", 0, error.message, error.hint)
    folder = storefolder.planned(code, context.env)
    for path in folder.orphans:
        message = "belonged to an earlier repository here, and is not read"
        fix = "Set it aside, and create the store: wc init"
        yield Finding(with_home(path, context.env), 0, message, fix)


def _unwritable_findings(context: Context) -> Iterator[Finding]:
    """Yield a finding if the folder of the store cannot be made."""
    folder = context.place.root
    while not os.path.lexists(folder):
        folder = os.path.dirname(folder)
    if os.path.isdir(folder) and os.access(folder, os.W_OK | os.X_OK):
        return
    message, fix = "cannot be written, so no store can be made there", ""
    with contextlib.suppress(OSError):
        fix = owners.unwritable(folder, os.stat(folder)).fix
    yield Finding(folder, 0, message, fix or owners.permissions_fix(folder))


def _settings_findings(context: Context) -> Iterator[Finding]:
    """Yield a finding for settings that cannot be used."""
    damage = context.settings.damage
    if damage is not None:
        fix = "Fix the file; until then nothing is written to this store."
        yield Finding(damage.file, damage.line, damage.message, fix)


def _stray_findings(reader: StoreReader) -> Iterator[Finding]:
    """Yield a finding for everything that occupies the path of a file or folder of the
    store."""
    for stray in find_strays(reader.layout):
        name = os.path.relpath(stray.path, reader.layout.root)
        fix = f"Check it, and move it out of the way: {quoted(stray.path)}"
        yield Finding(name, 0, stray.message, SET_ASIDE if stray.movable else fix)


def _settling_findings(reader: StoreReader) -> Iterator[Finding]:
    """Yield a finding if something could not be committed, or not for too long."""
    try:
        trouble = pending.last_trouble(reader.layout.root)
        waiting = counted(len(pending.unsettled_topics(reader.layout)), "thread")
    except (WcError, OSError):
        return  # something is in the way, which is another finding
    if trouble is not None:
        message = f"{waiting} to be settled; at {trouble.at}: {trouble.problem}"
        fix = "Their entries are safe on disk. Fix it; the next wc command continues."
        yield Finding("settling", 0, message, fix)
    elif pending.is_overdue(reader.layout):
        message = f"{waiting} to be settled for over a minute"
        fix = "Their entries are safe on disk; any wc command starts it: wc list"
        if by := reports.settler_at_work(reader.layout):
            fix = f"Their entries are safe on disk; {by}. If it hangs, end it."
        yield Finding("settling", 0, message, fix)


def _exchange_findings(context: Context) -> Iterator[Finding]:
    """Yield a finding for a problem with the remote that does not resolve itself."""
    standing = context.standing
    if standing is None or standing.travels:
        return
    if standing.problem and standing.lasting:
        # Of a fault on this machine, a sync says to look here.
        is_named_here = not standing.hint or "wc doctor" in standing.hint
        fix = _FIX_AND_SYNC if is_named_here else standing.hint
        yield Finding("sync", 0, standing.problem, fix)


def _owner_findings(context: Context) -> Iterator[Finding]:
    """Yield what in the store or the repository someone here cannot change."""
    for problem in owners.problems(context.place.root, context.store_repository):
        yield Finding("store", 0, problem.message, problem.fix)


def _report_notes(
    context: Context, examined: ThreadExaminer, *, is_all: bool
) -> Iterator[str]:
    for key in context.settings.ignored:
        yield about_unknown(key)
    if not context.settings.harvest:
        yield _FORMER_HARVEST
    forked = (
        f"{topic} is forked: two clones wrote at once; the next entry joins them"
        for topic in examined.forked
    )
    yield from bounded([*forked], _MAX_FORKED)
    if examined.ahead:
        threads = counted(len(examined.ahead), "thread has", "threads have")
        yield (
            f"{threads} an entry that is dated more than a day ahead, such as "
            f"{examined.ahead[0]}: a clock was wrong, here or there. Ball and status "
            "are right"
        )
    if chosen := chosen_text(context):
        yield f"the thread of this worktree is {chosen}"
    yield from _overlooked_pages(context)
    yield from _set_aside_notes(context, examined.recovery.set_aside)
    yield from _quarantine_notes(context.reader.layout)
    yield from map(other_home_text, context.other_homes)
    if lockowners.user_name(os.getuid()).startswith("uid "):
        yield f"your user id {os.getuid()} has no name on this machine"
    if (standing := context.standing) is not None:
        yield standing.sentence(now_ms())
    elif context.unasked:
        yield context.unasked
    yield from _harvest_notes(context)
    yield from _claims_notes(context, is_all=is_all)
    yield from _hook_notes(context)
    yield from _server_notes(context)
    yield from _start_notes(context)
    if problem := _index_problem(context.place.root):
        yield f"{problem}; to make it again: wc doctor --repair"


def _overlooked_pages(context: Context) -> Iterator[str]:
    """Yield where pages of threads are that the store of the branch lacks."""
    place, reader = context.place, context.reader
    if place.kind != BRANCH_STORE:
        return
    folder = discovery.oldest_root(context.cwd, place.repository, context.env)
    if folder and any(not reader.has(name) for name in StoreReader(folder).topics()):
        pages, target = quoted(folder), quoted(reader.layout.pages)
        yield (
            f"{folder} has pages of threads that this store does not have; to take "
            f"them in: cp -n {pages}/*.md {target}"
        )


def _index_problem(root: str) -> str:
    """Return why reading the store is slow; empty if it is not."""
    try:
        # 4 ms (SQLite), which a few builds of Python do not have.
        from wc_cli.ledger.index import cachefile
    except ImportError:
        return "index: searches read every log: this Python has no SQLite"
    return cachefile.problem(root)


def _hook_notes(context: Context) -> Iterator[str]:
    """Yield why installed hooks would not run, and which rules are outdated."""
    with contextlib.suppress(WcError):
        site = install_site(context, "user")
        yield from (f"hooks: {problem}" for problem in hookstate.hook_problems(site))
        yield from (f"agents: {text}" for text in hookstate.other_versions(site))


def _own_notes(context: Context) -> Iterator[str]:
    """Yield notes about this person's machine: they need no store."""
    yield from variables.about_unknown(context.env)
    path = preferences.path_of(context.env)
    for key in preferences.load(context.env).ignored:
        yield about_unknown(f"{path}: {key}")
    yield from _login_notes(context)


def _login_notes(context: Context) -> Iterator[str]:
    """Yield what new login shells don't find, if something was installed for them."""
    with contextlib.suppress(WcError):
        site = install_site(context, "user")
        yield from searchpath.login_problems(Ledger(site.home).owners(), site)


def _start_notes(context: Context) -> Iterator[str]:
    """Yield why clients of the MCP server wait while it starts."""
    if name := slow_start(context.env):
        yield (
            f"server: with {name}, as here, clients of wc-observe wait half a second "
            "for the list of tools"
        )


def _server_notes(context: Context) -> Iterator[str]:
    """Yield where the text of entries is sent, and what failed."""
    if reason := following.waiting_text(context.reader.layout, context.env):
        yield f"{reason} To try again: wc enrich"
    wanted = preferences.load(context.env)
    if not wanted.summaries_endpoint.address:
        return
    # 60 ms (http, ssl), only if a server is set.
    from wc_cli.bridges.enrich import summaries
    from wc_cli.bridges.enrich.parts import place_text

    endpoint = summaries.endpoint_of(wanted, context.env)
    if endpoint is not None:
        key = (
            f"with the key in {endpoint.variable}" if endpoint.key else "without a key"
        )
        yield (
            f"what is written is sent to {place_text(endpoint)}, {key}, to be "
            f"summarised by {endpoint.model}"
        )
    else:
        yield f"nothing is sent to be summarised: {summaries.off_reason(wanted)}"


def _harvest_notes(context: Context) -> Iterator[str]:
    """Yield how many fetched branches of agents the next exchange examines."""
    code = context.place.repository
    if context.place.kind != BRANCH_STORE or code is None:
        return
    with contextlib.suppress(GitError):  # which is another finding
        if count := harvesting.unexamined(context.place.root, context.env, code):
            yield harvesting.remaining_text(count)


def _claims_notes(context: Context, *, is_all: bool) -> Iterator[str]:
    """Yield whose edits are guarded, if anything is claimed or with ``is_all``."""
    repository = context.place.repository
    if repository is None:
        return
    layout, level = Layout(context.place.root), context.settings.guard
    index = books.load_index(layout)
    book = books.read(repository.common, index, books.no_commits)
    if book.claims or is_all:
        rows = coverage(layout, level, [claim.holder for claim in book.claims])
        lines = coverage_text(level, rows).splitlines()
        yield from (f"edits: {line}" for line in lines)


def _set_aside_notes(context: Context, aside: SetAsideStores) -> Iterator[str]:
    """Yield what is known about stores that were set aside. Entries that only they have
    are findings."""
    for store in aside.stores:
        root = store.layout.root
        folder = with_home(root, context.env)
        if store in aside.earlier and aside.missing(store):
            yield f"{folder} was set aside, and has entries that are missing here"
        elif store in aside.earlier:
            yield (
                f"{folder} is an earlier checkout of this store, which has all of its "
                f"entries. To remove it: rm -r {quoted(root)}"
            )
        else:
            yield (
                f"{folder} was set aside, and nothing shows that it belongs to this "
                f"store. To look at it: WATERCOOLER_DIR={quoted(root)} wc list"
            )


def _quarantine_notes(layout: Layout) -> Iterator[str]:
    """Yield what a repair set aside. Only a human knows whether it matters."""
    try:
        names = names_in(f"{layout.local}/quarantine", layout.root)
    except WcError as error:
        names = []
        yield error.message
    for name in names:
        file = f"{layout.local}/quarantine/{name}"
        yield (
            f"{layout.relative(file)} was set aside by a repair; check it, then remove "
            f"it: rm -r {quoted(file)}"
        )


def _checkout_findings(context: Context, reader: StoreReader) -> Iterator[Finding]:
    root = reader.layout.root
    is_awaited = sharedlines.are_postponed(reader.layout)
    for name, line in sharedlines.SHARED:
        path = f"{root}/{name}"
        if obstruction(path, "file"):
            continue  # that is another finding
        try:
            data = read_plain(path, root) or b""
        except OSError as error:
            fix = owners.permissions_fix(path)
            yield Finding(name, 0, f"cannot be read: {error.strerror}", fix)
            continue
        if not is_awaited and line.encode() not in data.splitlines():
            fix = f"Add the line: {line}"
            yield Finding(name, 0, f"lacks the line {line!r}", fix)
    for path in LineStamp(reader.layout).linked():
        message = (
            "this link is from an older wc: Claude Code can remove no worktree of this "
            "repository while it is there"
        )
        fix = "Replace it: wc doctor --repair. If it comes again, upgrade that wc."
        yield Finding(with_home(path, context.env), 0, message, fix)
    yield from _unwritten_findings(root, context.env)


def _unwritten_findings(root: str, env: Mapping[str, str]) -> Iterator[Finding]:
    """Yield a finding for each kind of thing on the branch that is never written to the
    folder. It may have been pushed by anyone; removing it is up to the user."""
    checkout = discovery.checkout_at(root)
    if checkout is None:
        return
    store = git.Git(root, env)
    try:
        unwritten = trees.unwritable(trees.all_items(store, commits.tip(checkout)))
    except GitError as error:
        yield Finding("git", 0, str(error), "Run git status in the store's folder.")
        return
    paths: dict[str, list[str]] = {}
    for path, reason in unwritten.items():
        paths.setdefault(reason, []).append(path)
    for reason, group in paths.items():
        arguments = " ".join(map(quoted, group[:_SHOWN]))
        like_it = f", like {len(group) - 1} more" if len(group) > 1 else ""
        fix = (
            "It is on the branch, and not used here. Remove it for all: "
            f"git -C {quoted(root)} rm -r -q --cached --sparse -- {arguments} && "
            f"git -C {quoted(root)} commit -q -m 'Remove what is not for a store'"
        )
        if not all(map(is_safe, group)):
            fix = "git refuses to touch it. Have whoever pushed it remove it."
        yield Finding(group[0], 0, f"{reason}{like_it}", fix)
