"""``wc land``: puts the branches of threads on the base branch."""

from __future__ import annotations

import sys

from wc_cli.agents.landing.choosing import (
    DIRTY,
    ELSEWHERE,
    MERGED,
    REBASING,
    REWRITTEN,
    UNRELATED,
    LandingChooser,
    LandingRequest,
)
from wc_cli.agents.landing.cleaning import Cleaner
from wc_cli.agents.landing.lander import (
    FAILED,
    LANDED,
    SKIPPED,
    Lander,
    landing_lock,
)
from wc_cli.agents.landing.returning import SHORT
from wc_cli.edits.landing import building, programs
from wc_cli.edits.landing.sending import RemoteBase
from wc_cli.run.entries import landings
from wc_cli.run.entries.receipts import start_settling
from wc_cli.run.options import Options, command, flag, text, words
from wc_cli.run.output import ProgressLine, remark, say, say_json
from wc_core.base.errors import (
    ConflictError,
    FindingsError,
    InvalidInputError,
    NotFoundError,
)
from wc_core.base.layout import Layout
from wc_core.base.phrases import counted, quoted
from wc_core.base.text import clean, one_line
from wc_core.ledger.planning import unlanded
from wc_core.ledger.planning.landing import (
    BRANCH_MISSING,
    HAS_CHANGED,
    HAS_LANDED,
    NEWER,
    REVIEW,
    UNNAMED,
    LandingBranches,
)
from wc_core.ledger.planning.obstacles import BALL, GATE, PARTS, STATUS, WAITS
from wc_core.ledger.threads import vocabulary
from wc_core.ledger.threads.landings import DROPPED, Landing
from wc_core.ledger.threads.proposals import Draft

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    from wc_cli.agents.landing.choosing import LandingChoice, LandingPrediction
    from wc_cli.agents.landing.lander import LandingResult
    from wc_cli.run.context import Context

_MAX_FILES = 3
_LEAST_DIGITS = 7
# What helps against each obstacle.
HINTS: Mapping[str, str] = {
    REVIEW: "A person has to approve it: wc review TOPIC, then wc say TOPIC --approve",
    UNNAMED: "Approve it again: wc review TOPIC, then wc say TOPIC --approve",
    NEWER: "Look at them: wc review TOPIC. Then approve them: wc say TOPIC --approve. "
    "Or land one commit: wc land TOPIC --commit HASH",
    REWRITTEN: "Review it again: wc review TOPIC. Then: wc say TOPIC --approve",
    STATUS: "Change its status: wc set-status TOPIC STATUS",
    BALL: "Take the ball: wc take TOPIC --reason '…'",
    WAITS: "See what it waits for: wc ready TOPIC",
    PARTS: "See what it waits for: wc ready TOPIC",
    GATE: "See what it waits for: wc ready TOPIC",
    BRANCH_MISSING: "Name its branch: wc move TOPIC --branch BRANCH",
    UNRELATED: "Put it on the base branch first: git rebase --root --onto BRANCH",
    HAS_LANDED: "Remove its worktree and branch: wc land TOPIC --clean",
    HAS_CHANGED: "Reopen it: wc say TOPIC --reopen -m '…'",
    MERGED: "Close it: wc close TOPIC",
    ELSEWHERE: "Land that one: wc move TOPIC --branch BRANCH, then: wc land TOPIC",
    DIRTY: "Commit them, or land without them: wc land TOPIC --allow-dirty",
    REBASING: "Finish that first: git rebase --continue, or --abort",
}


class LandOptions(Options):
    """Put the branch of a thread on the base branch, once it is approved: of this
    worktree's thread, of those you name, or of all that are ready. A branch that
    conflicts or fails its check goes back to who wrote it."""

    usual = "--all --onto --dry-run --queue --push --pr --clean --drop --yes"

    topics: tuple[str, ...] = words(
        "TOPIC...", "These threads (default: the one of this worktree).", default=()
    )
    all: bool = flag("--all", help="All threads that are ready to land.")
    onto: str = text(
        "--onto", "BRANCH", "Another branch to land on.", complete="branch"
    )
    merge: bool = flag("--merge", help="By a merge commit.")
    rebase: bool = flag("--rebase", help="Each commit on top of the base branch.")
    squash: bool = flag("--squash", help="As one commit.")
    dry_run: bool = flag("--dry-run", help="Show what would happen, and in what order.")
    queue: bool = flag("--queue", help="Show what can land, and why the others cannot.")
    push: bool = flag("--push", help="Move the base branch at the remote, too.")
    pr: bool = flag("--pr", help="Push the branch and open a pull request instead.")
    clean: bool = flag("--clean", help="Remove its worktree and branch afterwards.")
    drop: bool = flag("--drop", help="Do not land it: it waits for no one any longer.")
    allow_dirty: bool = flag(
        "--allow-dirty", help="Although its worktree has uncommitted changes."
    )
    commit: str = text(
        "--commit", "HASH", "Land this commit, also if it is newer than its approval."
    )
    yes: bool = flag("--yes", help="Approve the check that the repository asks for.")


@command(LandOptions)
def land(context: Context, options: LandOptions) -> None:
    """Land branches, or show which could."""
    _check_options(options)
    if not context.place.exists and not context.place.branch_exists:
        raise NotFoundError(
            "There are no threads here.",
            "Start one with: wc new TOPIC -m '…'",
        )
    request = _request(context, options)
    try:
        _act(context, options, request)
    finally:
        landings.refresh(context.place.root, context.env)


def _act(context: Context, options: LandOptions, request: LandingRequest) -> None:
    if options.drop:
        _drop(context, options, request)
    elif options.queue:
        _show_queue(context, options, _chooser(context, request).choices())
    elif options.dry_run:
        _show_plan(context, options, _chooser(context, request))
    elif options.pr:
        _open_requests(context, options, _chooser(context, request))
    elif not (options.clean and _clean_up(context, options, request)):
        _land(context, options, request)


def _check_options(options: LandOptions) -> None:
    methods = [options.merge, options.rebase, options.squash]
    if sum(methods) > 1:
        raise InvalidInputError(
            "--merge, --rebase and --squash exclude each other.", "Use one of them."
        )
    if options.all and options.topics:
        raise InvalidInputError(
            "--all and topics exclude each other.", "Use one of them."
        )
    if options.all and options.drop:
        raise InvalidInputError(
            "--all and --drop exclude each other.", "Name them: wc land TOPIC --drop"
        )
    if options.pr and (options.push or options.clean):
        raise InvalidInputError(
            "--pr lands nothing here, so --push and --clean have no meaning with it.",
            "Use it alone.",
        )
    digits = options.commit
    if digits and (len(digits) < _LEAST_DIGITS or digits.strip("0123456789abcdef")):
        raise InvalidInputError(
            f"{digits!r} is not a commit.",
            f"Give {_LEAST_DIGITS} or more digits of its id (0-9, a-f).",
        )
    if digits and (options.all or options.queue or len(options.topics) > 1):
        raise InvalidInputError(
            "--commit names a commit of one branch.", "Name one thread: wc land TOPIC"
        )


def _request(context: Context, options: LandOptions) -> LandingRequest:
    chosen = zip(
        building.METHODS, (options.merge, options.rebase, options.squash), strict=True
    )
    method = next((name for name, is_chosen in chosen if is_chosen), "")
    topics = tuple(context.reader.find(topic) for topic in options.topics)
    if not (topics or options.all or options.queue):
        from wc_cli.run.entries import localtopic  # 3 ms, only without a topic

        try:
            topics = (localtopic.local_topic(context),)
        except NotFoundError as error:
            hint = "Name a thread. See which can land: wc land --queue"
            raise NotFoundError(error.message, hint) from error
    commits = {topics[0]: options.commit} if options.commit else {}
    if commits and not context.is_person:
        raise ConflictError(
            "Only a person can name a commit to land; an agent lands what a person has "
            "approved.",
            "Leave out --commit, or ask the person to land it.",
        )
    return LandingRequest(
        topics, vocabulary.branch(options.onto), method, options.allow_dirty, commits
    )


def _chooser(context: Context, request: LandingRequest) -> LandingChooser:
    return LandingChooser(context, request, ProgressLine().note)


def _all_able(
    choices: Sequence[LandingChoice], options: LandOptions
) -> list[LandingChoice]:
    """Return the choices that can land. Raises ConflictError if one that was named
    cannot."""
    able = [choice for choice in choices if not choice.obstacles]
    unable = [choice for choice in choices if choice.obstacles]
    if unable and not options.all:
        name = one_line(unable[0].row.name)
        reasons = one_line(_reasons(unable[0]))
        obstacle = unable[0].obstacles[0]
        hint = HINTS[obstacle.code].replace("TOPIC", name)
        if obstacle.code == ELSEWHERE:
            hint = hint.replace("BRANCH", quoted(one_line(obstacle.words)))
        hint = hint.replace("HASH", unable[0].commit[:SHORT])
        raise ConflictError(f"{name} cannot land: {reasons}.", hint)
    return able


def _reasons(choice: LandingChoice) -> str:
    return "; ".join(obstacle.text for obstacle in choice.obstacles)


# --- landing --------------------------------------------------------------------------


def _land(context: Context, options: LandOptions, request: LandingRequest) -> None:
    """Land branches, and say what became of each."""
    layout = Layout(context.reader.layout.root)
    check = context.settings.land_check
    results: list[LandingResult] = []
    # Before the lock is taken: a person may take long to answer.
    request = _with_newer(context, options, request)
    _offer_check(context, options, request, layout)
    # What can land is decided under the lock: another landing may be at work.
    with landing_lock(layout):
        chooser = _chooser(context, request)
        lander = Lander(chooser, push=options.push)
        for result in lander.recover():
            _tell(options, results, result)
        done = {result.topic for result in results if result.state == LANDED}
        choices = [item for item in chooser.choices() if item.row.name not in done]
        able = _all_able(choices, options)
        skipped = [item for item in choices if _has_newer(item)]
        if able:
            _require_approval(layout, check)
        for item in able:
            if item.topic in chooser.confirmed:
                name, text = one_line(item.row.name), chooser.confirmed[item.topic]
                remark(
                    f"note: {name} was {one_line(text)}; landing it by name is your "
                    f"approval of {item.commit[:SHORT]}"
                )
        for result in lander.land_all(able, check):
            _tell(options, results, result)
        landed = [result for result in results if result.state == LANDED]
        if options.clean:
            _clean(Cleaner(chooser), options, [result.topic for result in landed])
    if lander.ended_by is not None and not results:
        raise lander.ended_by
    _tell_rest(context, options, chooser, results, skipped)
    if lander.ended_by is not None:
        raise lander.ended_by
    by_topic = {result.topic: result for result in results}
    missing = [result for result in by_topic.values() if result.state != LANDED]
    if missing:
        failed = [result for result in missing if result.state == FAILED]
        raise FindingsError(
            f"{counted(len(missing), 'branch', 'branches')} did not land.",
            f"See why: wc read {one_line(failed[0].topic)}"
            if failed
            else "See why: wc land --queue",
        )


def _tell_rest(
    context: Context,
    options: LandOptions,
    chooser: LandingChooser,
    results: Sequence[LandingResult],
    skipped: Sequence[LandingChoice],
) -> None:
    """Say what came of it all, and what can be done next."""
    landed = [one_line(item.topic) for item in results if item.state == LANDED]
    if options.json:
        fields = [_result_fields(result) for result in results]
        answer = {"store": context.store, "onto": chooser.base.name, "landed": fields}
        if skipped:
            answer["skipped"] = [
                {"topic": item.row.name, "state": SKIPPED, "text": _reasons(item)}
                for item in skipped
            ]
        say_json(answer)
        return
    for item in skipped:
        name = one_line(item.row.name)
        remark(f"note: {name}: {one_line(_reasons(item))}; see them: wc review {name}")
    if not results:
        remark("Nothing is ready to land. See why: wc land --queue")
    elif landed:
        if not context.settings.land_check:
            remark(
                "note: nothing was checked; a repository can ask for it: "
                "wc config set land.check 'make test'"
            )
        if not options.clean:
            names = " ".join(landed)
            remark(f"To remove worktree and branch: wc land {names} --clean")


def _drop(context: Context, options: LandOptions, request: LandingRequest) -> None:
    """Record in threads that are approved and closed that their branches are not to
    land. Raises ConflictError for others."""
    reader, onto = context.reader, LandingBranches(context.place.repository).onto
    states = [reader.snapshot(topic).state for topic in request.topics]
    for state in states:
        is_approved = unlanded.is_approved(reader, state.topic)
        tip = state.review.commit or state.branch
        if not (is_approved and onto and tip) or state.landing.is_over:
            name = one_line(state.name)
            raise ConflictError(
                f"{name} does not wait to land.", f"See its entries: wc read {name}"
            )
    for state in states:
        tip = state.review.commit or state.branch
        landing = Landing(onto, tip=tip, problem=DROPPED)
        draft = Draft(state.topic, "ack", "Not to land", landing=landing)
        receipt = context.writer().write(draft, context.source)
        if not options.json:
            say(f"{one_line(receipt.topic)}: not to land")
    if options.json:
        dropped = [state.name for state in states]
        say_json({"store": context.store, "dropped": dropped})
    start_settling(context)


def _clean_up(context: Context, options: LandOptions, request: LandingRequest) -> bool:
    """Remove the worktrees and branches of threads that have landed before. Returns
    whether that was all that was asked for."""
    states = [context.reader.snapshot(topic).state for topic in request.topics]
    if not states or not all(state.landing.commit for state in states):
        return False
    cleaner = Cleaner(_chooser(context, request))
    _clean(cleaner, options, [state.name for state in states], is_asked=True)
    if options.json:
        say_json({"store": context.store, "landed": []})
    return True


def _clean(
    cleaner: Cleaner,
    options: LandOptions,
    names: Iterable[str],
    *,
    is_asked: bool = False,
) -> None:
    """Remove the worktrees and branches of threads. What is in the way is a note,
    unless this is all that was asked for."""
    for name in names:
        try:
            done = cleaner.clean(cleaner.context.reader.find(name))
        except ConflictError as error:
            if is_asked:
                raise
            remark(f"note: {one_line(error.message)} {one_line(error.hint)}")
            continue
        if not options.json:
            say(f"{one_line(name)}: {', '.join(done) or 'nothing is left to remove'}")


def _result_fields(result: LandingResult) -> dict[str, Any]:
    return {name: value for name, value in result._asdict().items() if value}


def _tell(
    options: LandOptions, results: list[LandingResult], result: LandingResult
) -> None:
    """Say what became of a thread."""
    results.append(result)
    if options.json:
        return
    ball = f" · ball: {result.ball}" if result.ball else ""
    say(one_line(f"{result.topic}: {_lowered(result.text)}{ball}"))
    for note in result.notes:
        remark(f"note: {one_line(note)}")


def _lowered(text: str) -> str:
    return text[:1].lower() + text[1:]


def _has_newer(choice: LandingChoice) -> bool:
    """Return whether only commits since its approval are in the way of a branch."""
    return [obstacle.code for obstacle in choice.obstacles] == [NEWER]


def _with_newer(
    context: Context, options: LandOptions, request: LandingRequest
) -> LandingRequest:
    """Ask a person at a terminal whether the commits since an approval land, too.
    Returns the request with those that do."""
    is_asked = not options.json and sys.stdin.isatty() and sys.stderr.isatty()
    if not is_asked or not request.topics or request.commits:
        return request
    if not context.is_person:
        return request
    chooser = _chooser(context, request)
    commits = {}
    for choice in filter(_has_newer, chooser.choices()):
        sys.stderr.write(f"{one_line(choice.row.name)}: {_reasons(choice)}:\n")
        sys.stderr.writelines(f"  {line}\n" for line in chooser.newer_commits(choice))
        if _says_yes("Land them, too? [y/N] "):
            commits[choice.topic] = choice.tip
    return request._replace(commits=commits)


def _says_yes(question: str) -> bool:
    sys.stderr.write(question)
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in {"y", "yes"}


def _offer_check(
    context: Context, options: LandOptions, request: LandingRequest, layout: Layout
) -> None:
    """Have the check that the repository asks for approved on this machine, by --yes or
    at a terminal, if a branch could land. Raises ConflictError if a person refuses."""
    line = context.settings.land_check
    is_asked = not options.json and sys.stdin.isatty() and sys.stderr.isatty()
    if not line or programs.is_approved(layout, line):
        return
    if not (options.yes or is_asked) or context.process_agent:
        return
    choices = _chooser(context, request).choices()
    if all(choice.obstacles for choice in choices):
        return
    if not options.yes:
        sys.stderr.write(
            "Before a branch lands, this repository runs a command:\n"
            f"  {_check_text(line)}\n"
        )
        if not _says_yes("Run it here, now and later? [y/N] "):
            raise ConflictError(
                "The check was not approved, so nothing lands.",
                "Change it: wc config set land.check '…'",
            )
    programs.approve(layout, line)


def _require_approval(layout: Layout, line: str) -> None:
    """Raise ConflictError if a check was not approved on this machine."""
    if line and not programs.is_approved(layout, line):
        raise ConflictError(
            f"The check of this repository is not approved on this machine: "
            f"{_check_text(line)}.",
            "A person approves it: read it, then wc land --yes. Or at a terminal: "
            "wc land",
        )


def _check_text(line: str) -> str:
    """Return exactly what will run: a second line is a second command."""
    return " ⏎ ".join(clean(line).splitlines())


# --- showing --------------------------------------------------------------------------


def _show_queue(
    context: Context, options: LandOptions, choices: Sequence[LandingChoice]
) -> None:
    """Show what can land, in its order, and why the others cannot."""
    if options.json:
        fields = [_choice_fields(choice) for choice in choices]
        say_json({"store": context.store, "queue": fields})
        return
    for choice in choices:
        say(one_line(_choice_line(choice)))
    if not choices:
        remark("No thread has a branch that could land.")


def _choice_line(choice: LandingChoice) -> str:
    name = choice.row.name
    if choice.obstacles:
        return f"- {name}: {_reasons(choice)}"
    return f"{name}: ready to land · {_size(choice)}"


def _size(choice: LandingChoice) -> str:
    commits = counted(choice.commit_count, "commit")
    if choice.newer:
        return f"{commits}, without {choice.newer} since {choice.commit[:SHORT]}"
    return commits


def _choice_fields(choice: LandingChoice) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "topic": choice.row.name,
        "branch": choice.row.branch,
        "ready": not choice.obstacles,
        "commits": choice.commit_count,
    }
    if choice.commit_count:
        fields["commit"] = choice.commit
    if choice.newer:
        fields["newer"] = choice.newer
    if choice.obstacles:
        fields["obstacles"] = [
            {"code": obstacle.code, "text": obstacle.text}
            for obstacle in choice.obstacles
        ]
    return fields


def _show_plan(
    context: Context,
    options: LandOptions,
    chooser: LandingChooser,
) -> None:
    """Show in which order branches would land, and with what each conflicts."""
    choices = chooser.choices()
    able = [choice for choice in choices if not choice.obstacles]
    predictions = list(chooser.predictions(able))
    if options.json:
        say_json(
            {
                "store": context.store,
                "onto": chooser.base.name,
                "method": chooser.method,
                "order": [_prediction_fields(item) for item in predictions],
                "waiting": [
                    _choice_fields(choice) for choice in choices if choice.obstacles
                ],
            }
        )
        return
    for position, item in enumerate(predictions, 1):
        say(one_line(f"{position}. {_prediction_line(item, chooser.base.name)}"))
    for choice in choices:
        if choice.obstacles and not options.all:
            say(one_line(_choice_line(choice)))
    if not predictions and options.all:
        remark("Nothing is ready to land. See why: wc land --queue")


def _prediction_line(item: LandingPrediction, onto: str) -> str:
    head = f"{item.choice.row.name} · {_size(item.choice)}"
    if item.failed:
        return f"{head} · waits for {', '.join(item.failed)}, which will not land"
    if item.built.commit:
        return f"{head} · lands"
    paths = [path for path, _ in item.built.conflicts]
    names = ", ".join(paths[:_MAX_FILES])
    hidden = f" and {len(paths) - _MAX_FILES} more" if len(paths) > _MAX_FILES else ""
    return f"{head} · conflicts with {', '.join(item.rivals) or onto}: {names}{hidden}"


def _prediction_fields(item: LandingPrediction) -> dict[str, Any]:
    fields = _choice_fields(item.choice) | {"lands": item.lands}
    if item.built.conflicts:
        fields["conflicts"] = [path for path, _ in item.built.conflicts]
        fields["conflicts_with"] = list(item.rivals)
    if item.failed:
        fields["waits_for"] = list(item.failed)
    return fields


# --- pull requests --------------------------------------------------------------------


def _open_requests(
    context: Context,
    options: LandOptions,
    chooser: LandingChooser,
) -> None:
    """Push branches, and open or update their pull requests."""
    remote = RemoteBase.find(chooser.repository, context.env, chooser.base.name)
    opened = []
    for choice in _all_able(chooser.choices(), options):
        branch = choice.row.branch
        answer = remote.push_branch(branch, choice.commit)
        body = "\n".join(choice.text.trailers)
        request = remote.pull_request(branch, choice.row.title, body, answer)
        opened.append({"topic": choice.row.name, **request._asdict()})
        if request.is_new:
            title = f"Opened pull request #{request.number}"
            draft = Draft(choice.topic, "ack", title, request.address)
            draft = draft._replace(pr_refs=(request.number,) if request.number else ())
            context.writer().write(draft, context.source)
        if not options.json:
            say(
                one_line(f"{choice.row.name}: {_request_text(request, remote, branch)}")
            )
    if options.json:
        say_json({"store": context.store, "pull_requests": opened})


def _request_text(request: Any, remote: RemoteBase, branch: str) -> str:
    if request.number:
        verb = "opened" if request.is_new else "updated"
        return f"{verb} pull request #{request.number}: {request.address}"
    pushed = f"pushed {branch} to {remote.name}"
    return (
        f"{pushed}; open a pull request: {request.address}"
        if request.address
        else pushed
    )
