"""Starting a session in the cloud: its entries, its command, and what became of it.

The entries are by whoever runs `wc run`: the session's answer goes there.
"""

from __future__ import annotations

from wc_cli.agents.runs import commands, ending, prompt, writing
from wc_cli.agents.runs.choosing import ThreadChangedError
from wc_cli.agents.runs.cloud import planning
from wc_cli.agents.runs.cloud.addresses import session_in
from wc_cli.agents.runs.cloud.terminal import TerminalProcess
from wc_cli.agents.runs.output import RunOutput
from wc_cli.bridges.carry import automatic
from wc_cli.ledger.sync import routes
from wc_cli.ledger.sync.exchange import Waiting
from wc_cli.ledger.sync.exchanger import Exchanger
from wc_core.attention.runs import records
from wc_core.base.errors import ConflictError, WcError
from wc_core.base.files import read_plain
from wc_core.base.layout import Layout
from wc_core.base.names import SESSION_SEAT, Name, parse
from wc_core.base.text import one_line
from wc_core.ledger.configuration import preferences
from wc_core.ledger.git.private import private_layout
from wc_core.ledger.threads.model import ancestors, parent_graph
from wc_core.ledger.threads.proposals import Draft

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wc_cli.agents.runs.cloud.addresses import CloudSession
    from wc_cli.agents.runs.cloud.planning import CloudPlan
    from wc_cli.agents.runs.places import Places
    from wc_cli.agents.runs.process import AgentProcess
    from wc_cli.run.context import Context
    from wc_core.attention.runs.records import RunRecord
    from wc_core.ledger.threads.model import State

# What is so if a command ends, or is ended, and has named no session.
DOUBT = "named no session in the cloud, and may have started one"
_NOT_STARTED = "Could not be started in the cloud"


def exchange(at: Context) -> None:
    """Exchange the threads with their remote, as `wc sync` does. Raises OfflineError
    and others."""
    checkout = at.store_repository
    if checkout is None:
        raise ConflictError(
            "The threads have no branch of their own.", "See what is wrong: wc doctor"
        )
    at.writer(renews=False)
    remote = routes.usual_remote(checkout, at.env)
    waiting = Waiting.at_most(at.settings.limit)
    automatic.exchange(Exchanger(at.place.root, at.env, remote, waiting))


def planned_session(record: RunRecord, plan: CloudPlan) -> RunRecord:
    """Return the record of a run that is about to start, as that of a session."""
    name = str(Name(plan.agent, SESSION_SEAT))
    record = record._replace(agent=name, branch=plan.branch, commit=plan.commit)
    return record._replace(is_cloud=True)


def start_session(
    at: Context, places: Places, expected: State, plan: CloudPlan, record: RunRecord
) -> tuple[RunRecord, TerminalProcess]:
    """Start a process that waits to become the command of a plan, for a thread in the
    ``expected`` state. The threads, the branch, and the entry that says so are at the
    remote then. Returns the record with that entry. Raises ThreadChangedError, and a
    WcError if that fails; then the ball is where it was."""
    exchange(at)
    if at.reader.snapshot(expected.topic).state != expected:
        raise ThreadChangedError(expected.topic, "")
    planning.push(at, places, plan)
    _pass_to_session(at, record, plan)
    record = record._replace(since=at.reader.snapshot(expected.topic).state.since)
    writing.save(Layout(at.place.root), record)
    if not _share(at, record):
        raise ThreadChangedError(expected.topic, "")
    return record, _launch(at, record, plan)


def _pass_to_session(at: Context, record: RunRecord, plan: CloudPlan) -> None:
    """Pass the ball of a thread to the session that is about to be started."""
    label, commit = one_line(plan.remote.label), plan.commit[:10]
    text = f"It begins with `{one_line(plan.branch)}` of {label}, at `{commit}`."
    draft = Draft(record.topic, "handoff", "Started in the cloud", text)
    draft = draft._replace(to=record.agent, force=True, reason="wc run")
    writing.write_entry(at, draft._replace(key=_key_of(record)))


def _key_of(record: RunRecord) -> str:
    """Return the key of the entry that passes a ball to a session."""
    return f"run-{record.started_ms}"


def _share(at: Context, record: RunRecord) -> bool:
    """Send that to the remote. Returns whether no other machine has passed the ball at
    the same time. Raises OfflineError and others, after the ball was given back."""
    try:
        exchange(at)
    except WcError:
        undo(at, record)
        raise
    entries = at.reader.thread(record.topic).entries
    ancestry = ancestors([record.since], parent_graph(entries))
    return not any(entry.ball for entry in entries if entry.id not in ancestry)


def _launch(at: Context, record: RunRecord, plan: CloudPlan) -> TerminalProcess:
    """Start the command that starts a session. Raises ConflictError if that fails;
    then the ball is given back."""
    layout = Layout(at.place.root)
    folder = plan.folder or f"{writing.made_folder(layout, 'cloud').runs}/cloud"
    words = command_line(at, record.topic, plan)
    env = commands.person_env(at.env)
    try:
        log = RunOutput.of(layout, record.topic, at.env).open()
        return TerminalProcess.start(words, folder, env, log)
    except (OSError, ValueError) as error:
        undo(at, record)
        raise ConflictError(
            f"{words[0]} could not be started: {error}.", "Try it by hand."
        ) from error


def command_line(at: Context, topic: str, plan: CloudPlan) -> list[str]:
    """Return the command that starts a session for a thread, with its prompt."""
    thread = at.reader.thread(topic)
    text = prompt.cloud_prompt_text(plan.agent, thread.state, thread.entries)
    return commands.with_prompt(plan.command, text)


def session_of(at: Context, record: RunRecord) -> CloudSession | None:
    """Return the session that was started, by what its command printed."""
    layout = Layout(at.place.root)
    root = private_layout(layout).root
    output = read_plain(records.log_of(layout, record.topic), root) or b""
    client = commands.cloud_commands_of(
        parse(record.agent).agent, preferences.load(at.env)
    )
    thread = at.reader.thread(record.topic).data.decode(errors="replace")
    return session_in(output.decode(errors="replace"), client.address, thread)


def end_if_named(at: Context, record: RunRecord, process: AgentProcess) -> None:
    """End a command that has said which session it started; nothing for an agent that
    runs here."""
    if not isinstance(process, TerminalProcess) or not process.copy():
        return
    if session_of(at, record) is not None:
        process.end_softly()


def note(at: Context, record: RunRecord) -> None:
    """Write where a session is."""
    topic = one_line(record.topic)
    text = (
        f"Its id is `{record.session}`. Its answer comes with its work: `wc sync`. "
        f"Without one: `wc run fetch {topic}`, or `wc take {topic} --reason '…'`."
    )
    writing.write_entry(
        at, Draft(record.topic, "ack", f"Runs at {record.address}", text)
    )


def undo(at: Context, record: RunRecord) -> str:
    """Give the ball of a session that was not started back to who had it, unless it has
    moved. Returns who has it then."""
    thread = at.reader.thread(record.topic)
    state, key = thread.state, _key_of(record)
    # Who was killed after that entry has not recorded it.
    since = next((entry.id for entry in thread.entries if entry.key == key), "")
    record = record._replace(since=since or record.since)
    if not has_ball(state, record):
        return state.ball or "nobody"
    return ending.give_back(at, record, (), _NOT_STARTED, reason="wc run")


def doubt(at: Context, record: RunRecord) -> str:
    """Pass the ball of a session that may have been started to a person, who can look,
    unless it has moved. Returns who has it then."""
    state = at.reader.snapshot(record.topic).state
    if not has_ball(state, record):
        return state.ball or "nobody"
    reason = f"{record.reason}: {DOUBT}" if record.reason else DOUBT
    return ending.give_to_person(at, record._replace(reason=reason), ())


def has_ball(state: State, record: RunRecord) -> bool:
    """Return whether the session of a record still has the ball: it, not a later
    one."""
    return (state.ball, state.since) == (record.agent, record.since)
