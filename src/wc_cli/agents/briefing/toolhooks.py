"""The answers of hooks around an agent's tool: the guard for claims, and conflicts."""

from __future__ import annotations

import os

from wc_cli.agents.briefing import editnews, sessions
from wc_cli.agents.briefing.dialects import BEFORE
from wc_cli.agents.briefing.rivals import Rivals
from wc_cli.agents.briefing.sessions import Session
from wc_cli.ledger.branch.git import GitError
from wc_cli.ledger.clock import now_ms
from wc_cli.ledger.store.localfiles import LocalFiles
from wc_core.attention.status.balls import folders_of
from wc_core.base.agents import AGENTS
from wc_core.base.errors import ClaimedError, WcError
from wc_core.base.layout import Layout
from wc_core.base.lean.contextlib import suppress
from wc_core.base.phrases import counted, quoted
from wc_core.base.text import defused, one_line
from wc_core.base.times import ago, seconds_between
from wc_core.base.values import NamedTuple
from wc_core.edits.guard import toolcalls
from wc_core.edits.guard.toolcalls import ToolCall
from wc_core.ledger.configuration.keys import NOTICE, OFF, REFUSE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from wc_cli.agents.briefing.dialects import Dialect, HookInput
    from wc_cli.agents.briefing.rivals import Rival
    from wc_cli.run.context import Context

_NAMED = 3
_NOTE = 120


class ToolReply(NamedTuple):
    """The text for the agent, the session afterwards, and why the call is refused, if
    it is: the message, and the ways on."""

    text: str
    session: Session
    refusal: tuple[str, str] | None = None


def answer_tool(
    context: Context, dialect: Dialect, event: str, hook_input: HookInput, path: str
) -> str:
    """The text for an agent around a tool call; ``path`` is the file of its
    session, empty for none. Raises ClaimedError if the call is refused."""
    layout = Layout(context.place.root)
    session = (sessions.load(layout, path) if path else None) or Session()
    answer = _before_tool if event == BEFORE else _after_tool
    reply = answer(context, dialect, hook_input, session)
    try:
        if path and reply.session != session:
            sessions.save(layout, path, reply.session)
    finally:
        # Refuse even if the session cannot be saved.
        if reply.refusal is not None:
            message, ways_on = map(defused, reply.refusal)
            raise ClaimedError(message, ways_on)
    return reply.text


def _before_tool(
    context: Context, dialect: Dialect, hook_input: HookInput, session: Session
) -> ToolReply:
    """The answer before a tool is called."""
    rivals = _rivals(context, dialect)
    call = ToolCall(hook_input.tool, hook_input.arguments, context.cwd)
    if rivals is None or not toolcalls.may_write(call):
        return ToolReply("", session)
    files = _watched(rivals, session.files)
    session = session._replace(files=files, log_length=rivals.log_length())
    concerned = rivals.on(toolcalls.paths(call))
    refusing = [rival for rival in concerned if rival.covers_file]
    level = context.settings.guard
    if level == REFUSE and refusing:
        path = one_line(refusing[0].path)
        message = f'The edit of "{path}" was refused: {_who(refusing)}'
        return ToolReply("", session, (message, _ways_on(context, refusing[0])))
    if level == NOTICE:
        return ToolReply("", session)
    session, fresh = _warned(session, concerned, hook_input)
    if not fresh:
        return ToolReply("", session)
    message = f"{_who(fresh)} Agree with them before you continue."
    text = _text(context, message, fresh)
    if not dialect.tool_shapes[0]:
        # The client passes nothing on before a tool, so the agent gets it afterwards.
        return ToolReply("", session._replace(advice=(*session.advice, text)))
    return ToolReply(text, session)


def _after_tool(
    context: Context, dialect: Dialect, hook_input: HookInput, session: Session
) -> ToolReply:
    """The answer after a tool was called: its changes to files that others have
    claimed, each claim and file once, and predicted conflicts. Renews claims. Raises
    GitError."""
    call = ToolCall(hook_input.tool, hook_input.arguments, context.cwd)
    if toolcalls.may_write(call):
        _note_writer(context)
    context.renew_claims()
    texts = [*session.advice]
    session = session._replace(advice=())
    rivals = _rivals(context, dialect)
    if rivals is not None:
        files = rivals.changed_files()
        committed = rivals.committed_files(session.log_length or rivals.log_length())
        changed = rivals.newly_changed(session.files, files, committed)
        session, fresh = _warned(session, changed, hook_input)
        session = session._replace(files=files, log_length=rivals.log_length())
        if fresh:
            message = (
                f'"{one_line(fresh[0].path)}" was changed in this worktree, but '
                f"{_who(fresh)} Undo the change, or agree on it."
            )
            texts.append(_text(context, message, fresh))
        if fresh and context.settings.guard == NOTICE:
            session = session._replace(queued=(*session.queued, texts.pop()))
    news, conflicts = editnews.conflict_news(context, session.conflicts)
    session = session._replace(conflicts=conflicts)
    return ToolReply("\n".join(filter(None, (*texts, news))), session)


def _warned(
    session: Session, rivals: Sequence[Rival], hook_input: HookInput
) -> tuple[Session, list[Rival]]:
    """The session after a warning about these rivals, and those that are new to this
    agent: the agent of a session and each sub-agent have read different warnings."""
    suffix = f"\n{hook_input.subagent}" if hook_input.subagent else ""
    keys = {f"{rival.key}{suffix}": rival for rival in rivals}
    fresh = [rival for rival in rivals if f"{rival.key}{suffix}" not in session.warned]
    return session._replace(warned=session.warned | keys.keys()), fresh


def _watched(
    rivals: Rivals, files: Mapping[str, Mapping[str, str]]
) -> Mapping[str, Mapping[str, str]]:
    """The changed files of each claim before a tool runs. For claims that already
    existed, as they were after the last tool."""
    if all(claim.id in files for claim in rivals.claims):
        return files
    try:
        current = rivals.changed_files()
    except GitError:
        return files
    return {claim_id: files.get(claim_id, current[claim_id]) for claim_id in current}


def _note_writer(context: Context) -> None:
    """Record that the agent may have changed files in this worktree."""
    repository, viewer = context.place.repository, context.viewer
    if repository is not None and context.place.exists:
        local = LocalFiles(Layout(context.place.root))
        with suppress(OSError, WcError):
            local.note_writer(repository.worktree_id, viewer.identity, viewer.key)


def _rivals(context: Context, dialect: Dialect) -> Rivals | None:
    """The claims that are guarded from an agent; ``None`` if there are none."""
    repository = context.place.repository
    if repository is None or not repository.top:
        return None
    layout = Layout(context.place.root)
    with suppress(OSError, WcError):  # it guards anyway, without a trace
        _leave_trace(layout, dialect)
    if context.settings.guard == OFF:
        return None
    rivals = Rivals(repository, layout, context.viewer, context.env)
    return rivals if rivals.claims else None


def _leave_trace(layout: Layout, dialect: Dialect) -> None:
    """Record that the guard of a client runs here, for `wc claims`."""
    client = next((row.client for row in AGENTS if row.name == dialect.agent), "")
    if not client:
        return
    path = layout.guard_trace(client)
    if os.path.lexists(path):
        os.utime(path)
    else:
        name = os.path.relpath(path, layout.local)
        LocalFiles(layout).write(name, f"{client}\n".encode())


def _text(context: Context, message: str, rivals: Sequence[Rival]) -> str:
    return f"Watercooler: {message}\n{_ways_on(context, rivals[0])}"


def _who(rivals: Sequence[Rival]) -> str:
    """Whose claims they are."""
    claim = rivals[0].claim
    facts = [ago(seconds_between(claim.at * 1000, now_ms()))]
    facts += [f'thread "{one_line(claim.thread)}"'] if claim.thread else []
    facts += [f'"{one_line(claim.note, _NOTE)}"'] if claim.note else []
    holder, claim_id = one_line(claim.holder), one_line(claim.id)
    hidden = len({rival.key for rival in rivals}) - 1
    suffix = f", and {counted(hidden, 'more file')} of this call" if hidden else ""
    return f'"{holder}" has claimed "{claim_id}" ({"; ".join(facts)}){suffix}.'


def _ways_on(context: Context, rival: Rival) -> str:
    """What the agent can do instead of an edit."""
    claim = rival.claim
    topic, holder = quoted(one_line(claim.thread) or "TOPIC"), one_line(claim.holder)
    question = quoted(one_line(f"May I edit {rival.path}?"))
    verb = "say" if claim.thread else "new"
    free = "wc list --ball anyone --open"
    topics: list[str] = []
    with suppress(WcError):  # a refusal does not depend on it
        held = context.balls.held(folders_of(context.viewer))
        topics = [ball.topic for ball in held if ball.topic not in {"", claim.thread}]
    if topics:
        named = ", ".join(map(one_line, topics[:_NAMED]))
        free = f"wc read {quoted(topics[0])} --new (you have the ball of: {named})"
    return (
        f"1. Ask: wc {verb} {topic} -m {question} --to {quoted(holder)}\n"
        f"2. Do something else: {free}\n"
        "3. If they are gone, a person takes it over: "
        f"wc claim {quoted(one_line(claim.id))} --takeover --reason '…'"
    )
