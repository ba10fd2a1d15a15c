"""The answers of hooks around an agent's tool: the guard for claims, and conflicts."""

from __future__ import annotations

import os

from wc_cli.agents.briefing import editnews, sessions
from wc_cli.agents.briefing.dialects import BEFORE
from wc_cli.agents.briefing.sessions import Session
from wc_cli.agents.guard.rivals import Rivals
from wc_cli.agents.guard.texts import Alternatives
from wc_cli.agents.guard.watching import ClaimGuard, GuardMemory
from wc_cli.ledger.clock import now_ms
from wc_cli.ledger.store.localfiles import LocalFiles
from wc_core.attention.status import holders
from wc_core.base.agents import AGENTS
from wc_core.base.errors import ClaimedError, WcError
from wc_core.base.layout import Layout
from wc_core.base.lean.contextlib import suppress
from wc_core.base.text import defused
from wc_core.base.values import NamedTuple
from wc_core.edits.guard.toolcalls import ToolCall, may_write
from wc_core.ledger.configuration.keys import NOTICE, OFF

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wc_cli.agents.briefing.dialects import Dialect, HookInput
    from wc_cli.agents.guard.texts import GuardText
    from wc_cli.run.context import Context


class ToolReply(NamedTuple):
    """The text for the agent, the session afterwards, and why the call is refused, if
    it is."""

    text: str
    session: Session
    refusal: GuardText | None = None


def answer_tool(
    context: Context, dialect: Dialect, event: str, hook_input: HookInput, path: str
) -> str:
    """The text for an agent around a tool call; ``path`` is the file of its
    session, empty for none. Raises ClaimedError if the call is refused."""
    layout = Layout(context.place.root)
    session = (sessions.load(layout, path) if path else None) or Session()
    answer = before_tool if event == BEFORE else after_tool
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


def before_tool(
    context: Context, dialect: Dialect, hook_input: HookInput, session: Session
) -> ToolReply:
    """The answer before a tool is called."""
    guard = _guard(context, dialect)
    if guard is None:
        return ToolReply("", session)
    call = ToolCall(hook_input.tool, hook_input.arguments, context.cwd)
    answer = guard.before(call, _memory(session, hook_input))
    session = _remembering(session, answer.memory)
    if answer.refused:
        return ToolReply("", session, answer.text)
    text = str(answer.text or "")
    if text and not dialect.tool_shapes[0]:
        # The client passes nothing on before a tool, so the agent gets it afterwards.
        return ToolReply("", session._replace(advice=(*session.advice, text)))
    return ToolReply(text, session)


def after_tool(
    context: Context, dialect: Dialect, hook_input: HookInput, session: Session
) -> ToolReply:
    """The answer after a tool was called: its changes to files that others have
    claimed, and predicted conflicts. Renews claims. Raises GitError."""
    if may_write(ToolCall(hook_input.tool, hook_input.arguments, context.cwd)):
        _note_writer(context)
    context.renew_claims()
    texts = [*session.advice]
    session = session._replace(advice=())
    guard = _guard(context, dialect)
    if guard is not None:
        answer = guard.after(_memory(session, hook_input))
        session = _remembering(session, answer.memory)
        if answer.text is not None and guard.level == NOTICE:
            session = session._replace(queued=(*session.queued, str(answer.text)))
        elif answer.text is not None:
            texts.append(str(answer.text))
    news = editnews.conflict_news(context, session.conflicts)
    session = session._replace(conflicts=news.keys)
    return ToolReply("\n".join(filter(None, (*texts, news.text))), session)


def _note_writer(context: Context) -> None:
    """Record that the agent may have changed files in this worktree."""
    repository, viewer = context.place.repository, context.viewer
    if repository is not None and context.place.exists:
        local = LocalFiles(Layout(context.place.root))
        with suppress(OSError, WcError):
            local.note_writer(repository.worktree_id, viewer.identity, viewer.key)


def _guard(context: Context, dialect: Dialect) -> ClaimGuard | None:
    """The guard of an agent; ``None`` if there is nothing to guard."""
    repository, settings = context.place.repository, context.settings
    if repository is None or not repository.top:
        return None
    layout, viewer = Layout(context.place.root), context.viewer
    with suppress(OSError, WcError):  # it guards anyway, without a trace
        _leave_trace(layout, dialect)
    if settings.guard == OFF:
        return None
    rivals = Rivals(repository, layout, viewer, context.env)
    if not rivals.claims:
        return None
    balls = holders.held_balls(layout, holders.folders_of(viewer))
    topics = [ball.topic for ball in balls if ball.topic]
    alternatives = Alternatives(topics, now_ms())
    return ClaimGuard(rivals, alternatives, settings.guard)


def _memory(session: Session, hook_input: HookInput) -> GuardMemory:
    subagent = hook_input.subagent
    return GuardMemory(session.files, session.warned, session.log_length, subagent)


def _remembering(session: Session, memory: GuardMemory) -> Session:
    fields = {name: getattr(memory, name) for name in ("files", "warned", "log_length")}
    return session._replace(**fields)


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
