"""``wc gate``: conditions, other than threads, that a thread waits for."""

from __future__ import annotations

import sys

from wc_cli.commands.common import WriteOptions
from wc_cli.commands.writing import write_entry
from wc_cli.ledger.clock import now_ms
from wc_cli.run.entries import receipts
from wc_cli.run.options import command as declare
from wc_cli.run.options import flag, number, text, words
from wc_cli.run.output import remark, say, say_json
from wc_cli.run.terminal.labels import shown_waits
from wc_core.base.errors import ConflictError, InvalidInputError, NotFoundError
from wc_core.base.phrases import quoted
from wc_core.base.text import one_line
from wc_core.ledger.planning import gates
from wc_core.ledger.threads import vocabulary
from wc_core.ledger.threads.gates import COMMAND, HUMAN, PASS, REMOVE, GateChange
from wc_core.ledger.threads.model import CLOSED
from wc_core.ledger.threads.proposals import Draft

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from wc_cli.ledger.plan.gatechecks import NumberedGate, Outcome
    from wc_cli.run.context import Context
    from wc_core.ledger.threads.gates import Gate
    from wc_core.ledger.threads.model import State

_CHECK = "check"
_COMMAND_SECONDS = "600"
_EXAMPLE = "Write, for example: wc gate api --until 2026-12-01"


class GateOptions(WriteOptions):
    """Make a thread wait for a time, a pull request, a command or someone's approval;
    without options, list its gates. wc gate check [TOPIC...] checks pull requests and
    runs commands."""

    usual = "--until --pr --command --human --pass --remove --note --yes --as --json"

    words: tuple[str, ...] = words("TOPIC", "The thread; or: check [TOPIC...].")
    until: str = text(
        "--until", "TIME", "A date, a time (UTC), friday, or 3d from now."
    )
    pr: str = text("--pr", "N", "Until this pull request is merged (wc gate check).")
    command: str = text(
        "--command", "COMMAND", "Until this command succeeds (wc gate check)."
    )
    human: str = text("--human", "NAME", "Until this person approves.")
    passed: int = number("--pass", "Give the approval that gate N waits for.")
    remove: int = number("--remove", "Remove gate N.")
    note: str = text("--note", "TEXT", "Why it passes, or is removed.")
    yes: bool = flag(
        "--yes", help="With check: run commands that nobody approved here."
    )
    timeout: str = text(
        "--timeout",
        "TIME",
        "With check: time limit of a command: seconds, or 10m.",
        default=_COMMAND_SECONDS,
    )

    @property
    def is_change(self) -> bool:
        """Whether the options change the gates of a thread."""
        return bool(
            self.until
            or self.pr
            or self.command
            or self.human
            or self.passed
            or self.remove
        )


@declare(GateOptions)
def gate(context: Context, options: GateOptions) -> None:
    """List, add, pass, remove or check gates."""
    first, *following = options.words
    if first == _CHECK and not options.is_change:
        _check_gates(context, options, following)
        return
    if following:
        raise InvalidInputError("A gate belongs to one thread.", _EXAMPLE)
    state = context.reader.snapshot(context.reader.find(first)).state
    if not options.is_change:
        _list_gates(context, options, state)
        return
    if options.passed or options.remove:
        draft = _passing(context, options, state)
    else:
        if options.human:
            options.human = context.writer().understood(options.human)
        draft = _adding(options, state)
    write_entry(context, options, draft)
    if not options.json:
        say(one_line(f"{state.name}: {draft.title}"))


def _list_gates(context: Context, options: GateOptions, state: State) -> None:
    context.remember()
    moment = now_ms()
    if options.json:
        listed = [
            gates.to_json(item, position, moment)
            for position, item in enumerate(state.gates, 1)
        ]
        say_json({"store": context.store, "topic": state.name, "gates": listed})
        return
    say("\n".join(_gate_lines(state, moment)))
    if not state.gates:
        name = one_line(state.name)
        remark(f"{name} has no gate. Add one: wc gate {name} --until 2026-12-01")


def _gate_lines(state: State, moment: int) -> Iterator[str]:
    for position, item in enumerate(state.gates, 1):
        mark = "closed" if gates.is_closed(item, moment) else "open"
        by = f" by {item.checked_by}" if item.outcome else ""
        outcome = {"": "", PASS: f", passed{by}"}.get(item.outcome, f", failed{by}")
        waits = shown_waits(gates.words(item))
        yield one_line(f"{position}. {waits}: {mark}{outcome}")


def _adding(options: GateOptions, state: State) -> Draft:
    """The draft that adds gates."""
    if state.status == CLOSED:
        raise ConflictError(
            f"{state.name} is closed and waits for nothing.",
            f"Reopen it first: wc set-status {state.name} OPEN",
        )
    changes = (
        *([gates.until(options.until, now_ms())] if options.until else []),
        *([gates.pull_request(options.pr)] if options.pr else []),
        *([gates.command(options.command)] if options.command else []),
        *([gates.human(options.human)] if options.human else []),
    )
    added = [gates.words(gates.as_gate(change)) for change in changes]
    waiting = {gates.words(item) for item in state.gates if item.outcome != PASS}
    if present := [words for words in added if words in waiting]:
        raise ConflictError(
            f"{state.name} already waits for {', '.join(present)}.",
            f"Nothing was written. See its gates: wc gate {state.name}",
        )
    title = f"Waits for {', '.join(added)}"
    note = vocabulary.reason(options.note)
    return Draft(state.topic, "gate", title, reason=note, gates=changes)


def _passing(context: Context, options: GateOptions, state: State) -> Draft:
    """The draft that passes or removes a gate."""
    if options.passed and options.remove:
        raise InvalidInputError(
            "--pass and --remove exclude each other.",
            "Use one of them. Nothing was written.",
        )
    note = vocabulary.reason(options.note)
    if options.remove:
        item = _numbered(state, options.remove)
        title = f"No longer waits for {gates.words(item)}"
        change = GateChange(REMOVE, id=item.id)
    else:
        item = _numbered(state, options.passed)
        _check_may_pass(context, state, item)
        title = f"Passed: {gates.words(item)}"
        change = GateChange(PASS, id=item.id)
    return Draft(state.topic, "gate", title, reason=note, gates=(change,))


def _numbered(state: State, position: int) -> Gate:
    if position > len(state.gates):
        raise NotFoundError(
            f"{state.name} has no gate {position}.",
            f"See its gates: wc gate {state.name}",
        )
    return state.gates[position - 1]


def _check_may_pass(context: Context, state: State, item: Gate) -> None:
    """Raise ConflictError if the author cannot pass this gate."""
    if item.kind != HUMAN:
        how = "opens by itself" if item.kind == "until" else "is opened by a check"
        raise ConflictError(
            f"The gate {gates.words(item)} {how}.",
            f"Nothing was written. Check it: wc gate check {state.name}",
        )
    if item.outcome == PASS:
        raise ConflictError(
            f"{item.checked_by} has already given {gates.words(item)}.",
            "Nothing was written.",
        )
    me = context.identity.name
    if not context.settings.directory.matches(item.value, me):
        raise ConflictError(
            f"This gate waits for {item.value}; you are {me}.",
            f"Only {item.value} can pass it. To remove it: "
            f"wc gate {state.name} --remove N --note {quoted('why')}",
        )


def _check_gates(context: Context, options: GateOptions, names: list[str]) -> None:
    """Check pull requests and run commands, and record what has changed."""
    from wc_cli.ledger.plan import gatechecks  # 9 ms (subprocess), only to check

    reader = context.reader
    topics = [reader.find(name) for name in names] or reader.topics()
    seconds = vocabulary.wait_seconds(options.timeout) or float(_COMMAND_SECONDS)
    states = (reader.snapshot(topic).state for topic in topics)
    results = []
    for item in gatechecks.checkable(states):
        outcome = _outcome(context, options, item, seconds)
        changed = outcome is not None and outcome.outcome not in {
            "",
            item.gate.outcome,
        }
        if outcome is not None and changed:
            receipt = context.writer().write(
                gatechecks.outcome_draft(item, outcome), context.source
            )
            receipts.settle_after_write(context, receipt, sync=options.sync)
        results.append(_result(item, outcome, changed=changed))
        if not options.json:
            say(one_line(_result_text(item, outcome)))
    if options.json:
        say_json({"store": context.store, "gates": results})
    elif not results:
        remark("No gate waits for a check.")


def _outcome(
    context: Context, options: GateOptions, item: NumberedGate, seconds: float
) -> Outcome | None:
    """The result of a check; ``None`` if it was not made."""
    from wc_cli.ledger.plan import gatechecks  # as in `_check_gates`

    repository = context.place.repository
    folder = repository.top if repository is not None else context.cwd
    if item.gate.kind != COMMAND:
        try:
            return gatechecks.pull_request(item.gate.value, folder, context.env)
        except NotFoundError as error:
            remark(f"note: {one_line(error.message)} {one_line(error.hint)}")
            return None
    if not _may_run(context, options, item):
        remark(
            f"note: not run, because no person has approved it on this machine: "
            f"{one_line(item.gate.value)} (a person runs wc gate check in a terminal, "
            f"or with --yes)"
        )
        return None
    return gatechecks.run_command(item.gate.value, folder, context.env, seconds)


def _may_run(context: Context, options: GateOptions, item: NumberedGate) -> bool:
    """Whether a gate's command may run here. Asks at a terminal."""
    from wc_cli.ledger.plan import gatechecks  # as in `_check_gates`

    layout, line = context.reader.layout, item.gate.value
    if gatechecks.is_approved(layout, gatechecks.GATE, line):
        return True
    if context.process_agent:
        return False  # a person has to read it
    if not options.yes:
        if options.json or not (sys.stdin.isatty() and sys.stderr.isatty()):
            return False
        author = one_line(item.gate.added_by)
        sys.stderr.write(
            f"{author} has {one_line(item.name)} wait for a command:\n"
            f"  {one_line(line)}\nRun it here, now and later? [y/N] "
        )
        sys.stderr.flush()
        if sys.stdin.readline().strip().lower() not in {"y", "yes"}:
            return False
    gatechecks.approve(layout, gatechecks.GATE, line)
    return True


def _result(
    item: NumberedGate, outcome: Outcome | None, *, changed: bool
) -> dict[str, Any]:
    """The result of the checks, as JSON."""
    return {
        "topic": item.name,
        "number": item.number,
        "kind": item.gate.kind,
        "value": item.gate.value,
        "checked": outcome is not None,
        "outcome": outcome.outcome if outcome is not None else item.gate.outcome,
        "changed": changed,
    }


def _result_text(item: NumberedGate, outcome: Outcome | None) -> str:
    place = f"{item.name}: {gates.words(item.gate)}"
    if outcome is None:
        return f"{place}: not checked"
    word = {PASS: "passed", "": "still open"}.get(outcome.outcome, "failed")
    return f"{place}: {word} ({outcome.output.splitlines()[0]})"
