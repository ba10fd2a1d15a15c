"""``wc run``: starts agents for the balls that are theirs."""

from __future__ import annotations

import math
import shlex
import signal
import time

from wc_cli.agents.runs import commands, prompt, showing
from wc_cli.agents.runs.choosing import Chooser, RunCandidate, RunRequest
from wc_cli.agents.runs.output import RunOutput
from wc_cli.agents.runs.runner import RunLimits, Runner
from wc_cli.run.context import Context
from wc_cli.run.options import Options, command, flag, number, text, words
from wc_cli.run.output import remark, say, say_json
from wc_core.attention.runs import records
from wc_core.base.errors import FindingsError, InvalidInputError, NotFoundError
from wc_core.base.layout import Layout, file_name
from wc_core.base.names import Name
from wc_core.base.phrases import counted, shown_path
from wc_core.base.text import one_line
from wc_core.ledger.configuration import preferences
from wc_core.ledger.threads import vocabulary

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


_MOST = 3
_LOG = "log"
_WORDS = 2


class RunOptions(Options):
    """Start agents for the balls that are theirs, each in its thread's worktree, until
    you stop it. `wc run log TOPIC` shows the output of a thread's agent."""

    topics: tuple[str, ...] = words(
        "TOPIC...", "Only these threads; or: log TOPIC.", default=()
    )
    agent: str = text(
        "--agent", "NAME", "Only this agent; of --ready, for it.", complete="agent"
    )
    ready: bool = flag("--ready", help="Also free balls of threads that are ready.")
    mine: bool = flag("--mine", help="Only threads that you asked for.")
    max: int = number("--max", "At most this many at once.", default=_MOST)
    once: bool = flag("--once", help="One pass: end when nothing is left to start.")
    lasting: str = text("--for", "TIME", "Start no more after this time: 90m, 2h.")
    start: str = text(
        "--from",
        "BRANCH",
        "The branch from which new worktrees are made.",
        complete="branch",
    )
    land: bool = flag("--land", help="Also land what is approved: see wc land.")
    dry_run: bool = flag("--dry-run", help="Show what would be started.")


@command(RunOptions)
def run(context: Context, options: RunOptions) -> None:
    """Start agents, or show the output of one."""
    if len(options.topics) == _WORDS and options.topics[0] == _LOG:
        _show_log(context, options)
        return
    request = _request(context, options)
    if not context.place.exists and not context.place.branch_exists:
        raise NotFoundError(
            "There are no threads here.",
            "Start one with: wc new TOPIC -m '…' --to NAME",
        )
    if options.dry_run:
        _show_plan(context, options, request)
        return
    seconds = vocabulary.wait_seconds(options.lasting)
    until = math.inf if seconds is None else time.monotonic() + seconds
    own = preferences.load(context.env)
    if own.problem:
        raise InvalidInputError(own.problem, "Fix the file, or see: wc config --global")
    limits = RunLimits(options.max, options.once, until, own.run_minutes * 60.0)

    with showing.Display(context.env, as_json=options.json) as display:
        runner = _run_agents(context, options, request, limits, display)
    _tell_rest(runner, display, options)
    if runner.problem:
        raise FindingsError(
            f"wc run has stopped: {one_line(runner.problem)}.",
            "See what the agents said: wc run log TOPIC",
        )
    if options.once and runner.failed:
        raise FindingsError(
            f"{counted(runner.failed, 'run')} failed.",
            "See what the agents said: wc run log TOPIC",
        )


def _run_agents(
    context: Context,
    options: RunOptions,
    request: RunRequest,
    limits: RunLimits,
    display: showing.Display,
) -> Runner:
    """Start and watch agents until the end; return what was done."""

    def fresh() -> Context:
        return Context(context.env, context.cwd, context.asked)

    def show(runner: Runner) -> None:
        display.show(runner)
        if display.is_lost and not runner.is_interrupted:
            runner.interrupt()  # nobody is there to stop it later

    runner = Runner(fresh, request, limits, display.tell, lands=options.land)
    for number_ in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        # Who ignores a signal for us, such as nohup, is obeyed.
        if signal.getsignal(number_) is not signal.SIG_IGN:
            signal.signal(number_, lambda *_: runner.interrupt())
    runner.run(show)
    return runner


def _request(context: Context, options: RunOptions) -> RunRequest:
    if options.max < 1:
        raise InvalidInputError("--max needs a number above 0.", "Such as: --max 3")
    if options.ready and not options.agent:
        raise InvalidInputError(
            "--ready needs the agent that takes the free balls.",
            "Such as: wc run --ready --agent Codex",
        )
    if options.agent:
        name = context.settings.directory.canonical(Name(options.agent)).agent
        commands.command_of(name, preferences.load(context.env))
    return RunRequest(
        options.topics,
        options.ready,
        options.mine,
        options.agent,
        vocabulary.branch(options.start),
    )


def _tell_rest(runner: Runner, display: showing.Display, options: RunOptions) -> None:
    """Say what was not started, unless the display has."""
    lines = showing.waiting_lines(runner.queue.waiting)
    if lines and display.is_live:
        remark("\n".join(("Not started:", *lines)))
    elif not (lines or runner.started or runner.failed or options.json):
        remark("No ball is an agent's. Pass one: wc handoff TOPIC --to Codex")


def _show_plan(context: Context, options: RunOptions, request: RunRequest) -> None:
    """Print exactly what would be started now."""
    chooser = Chooser(context, request)
    candidates = chooser.candidates()
    if options.json:
        say_json(
            {
                "store": context.store,
                "start": [
                    _fields(chooser, item) for item in candidates if not item.obstacle
                ],
                "waiting": [
                    {
                        "topic": item.state.name,
                        "agent": item.agent,
                        "reason": item.obstacle,
                    }
                    for item in candidates
                    if item.obstacle
                ],
            }
        )
        return
    for number_, item in enumerate(item for item in candidates if not item.obstacle):
        fields = _fields(chooser, item)
        place = shown_path(fields["worktree"], context.env)
        if item.place is not None and item.place.add:
            begun = item.place.origin_text
            place += f" (new, branch {fields['branch']}{begun})"
        later = "" if number_ < options.max else f" · after the first {options.max}"
        say(f"{item.state.name} · {item.agent} · {one_line(place)}{later}")
        say(f"  {shlex.join(fields['command'])}")
    for line in showing.waiting_lines(candidates):
        say(f"- {line}")
    if not candidates:
        remark("No ball is an agent's. Pass one: wc handoff TOPIC --to Codex")


def _fields(chooser: Chooser, item: RunCandidate) -> dict[str, Any]:
    place = item.place
    if place is None:
        raise NotFoundError("It has no place.", "Try again.")
    author = chooser.author_in(item.agent, place)
    entries = chooser.context.reader.thread(item.topic).entries
    written = prompt.prompt_text(author, item.state, entries, again=False)
    return {
        "topic": item.state.name,
        "agent": item.agent,
        "worktree": place.path,
        "branch": place.branch,
        "new": bool(place.add),
        **({"from": place.start} if place.start else {}),
        "command": commands.with_prompt(item.command, written),
    }


def _show_log(context: Context, options: RunOptions) -> None:
    """Print the output of a thread's agent."""
    reader = context.reader
    topic = reader.find(options.topics[1])
    layout = Layout(reader.layout.root)
    record = records.load_shown(layout, topic)
    if record is None:
        raise NotFoundError(
            f"No agent was started for {topic} here.", f"Start it: wc run {topic}"
        )
    try:
        output = RunOutput.of(layout, topic, context.env)
        if records.load(layout, topic) is None:  # an older wc ran it
            path = f"{layout.runs}/{file_name(topic)}.log"
            output = output._replace(path=path, root=layout.root)
        text = output.text()
    except OSError as error:
        raise NotFoundError(
            f"The output for {topic} cannot be read: {error.strerror}.",
            "See: wc doctor",
        ) from error
    if options.json:
        say_json({**record._asdict(), "output": text})
    else:
        say(text)
