"""The prompts: what a user picks from a menu to start an agent on a task.

Each is two messages. The first is only the server's own text: what to do, and which
command to run afterwards. The second is data: the text that the tools also answer with,
in which everything that others wrote is marked.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable  # noqa: TC003  (pydantic reads it)
from typing import TYPE_CHECKING, Any

from fastmcp.prompts.base import Message, Prompt, PromptArgument, PromptResult

from wc_core.base import times
from wc_core.base.names import MINE, OFFERED
from wc_core.base.phrases import quoted
from wc_core.base.text import one_line
from wc_core.base.values import NamedTuple
from wc_core.ledger.threads.model import CLOSED
from wc_observe.answers.quoting import word
from wc_observe.callers.calls import CURRENT
from wc_observe.callers.open_store import open_store
from wc_observe.mcp import insighttools, tools
from wc_observe.mcp.refusals import guarded

if TYPE_CHECKING:
    from fastmcp import FastMCP
    from fastmcp.tools.base import ToolResult

_NAME_WIDTH = 200
_UPDATES = 100
_LATEST = -30


def catch_up(since: str = "1d") -> list[Message]:
    """Returns what waits for the caller, and what happened since a given time."""
    times.since_id(since, CURRENT.get().now_ms())
    return _task_messages(
        f"Catch up on the threads of this repository since {word(since)}. The next "
        "message has them.\n\n"
        "1. First, what waits for me: threads where I have the ball, and what each "
        "needs.\n"
        "2. Then, what was decided, what is blocked, and who has the next move.\n"
        "3. Read a thread before you rely on it: read_thread(topic).\n\n"
        "Change nothing yet. To mark what you told me about as read:\n"
        "    wc read TOPIC --seen\n",
        tools.list_threads(open_only=True, ball="me"),
        tools.list_updates(since=since, limit=_UPDATES),
    )


def review_thread(topic: str) -> list[Message]:
    """Returns a thread to review."""
    thread = _thread_turn(topic)
    return _task_messages(
        f"Review the thread {thread.topic}. The next message has its ball and its "
        "latest entries; read_thread has the rest.\n\n"
        "1. In a few sentences: what it is about, what was decided, and what is "
        "open.\n"
        "2. Check what it claims against the code of this repository; name what is "
        "wrong, missing or risky.\n"
        "3. Say what the next move is, and whose.\n\n"
        f"{thread.turn} When I agree, record the review with:\n"
        f"    wc {thread.command} {thread.argument} --role critic "
        "-m 'TITLE' -m 'TEXT'\n",
        insighttools.get_stats(topic),
        tools.read_thread(topic, from_entry=_LATEST),
    )


def draft_handoff(topic: str, to: str = "") -> list[Message]:
    """Returns what the next holder of a thread needs to know."""
    thread = _thread_turn(topic)
    name = one_line(to, _NAME_WIDTH)
    receiver = word(name, _NAME_WIDTH) if name else "the next participant"
    return _task_messages(
        f"Draft a handoff of the thread {thread.topic} to {receiver}. The next message "
        "has its latest entries; read_thread has the rest.\n\n"
        "Write for a newcomer, in at most ten lines: what is done and "
        "where (branch, files, commits), what is left, how to check it, what is "
        "undecided.\n\n"
        f"{thread.turn} Show me the draft. When I agree, run:\n"
        f"    wc handoff {thread.argument} --to {quoted(name) if name else 'NAME'} "
        "--note '…'\n",
        tools.read_thread(topic, from_entry=_LATEST),
    )


class _ThreadTurn(NamedTuple):
    """Whose turn it is in a thread.

    ``topic`` is its topic as text, ``argument`` as a shell word, ``turn`` a sentence,
    and ``command`` the name of the command that adds an entry.
    """

    topic: str
    argument: str
    turn: str
    command: str


def _thread_turn(topic: str) -> _ThreadTurn:
    store = open_store(CURRENT.get())
    snapshot = store.reader.snapshot(store.reader.find(topic))
    state, name = snapshot.state, snapshot.name
    ownership = store.viewer.whose(state.ball)
    if ownership == MINE:
        turn, command = "You have the ball.", "say"
    elif ownership == OFFERED:
        take = f"wc take {quoted(name)}"
        turn, command = f"The ball is offered to you: {take}.", "say"
    elif state.status == CLOSED:
        turn, command = "The thread is closed; an entry needs --reopen.", "say"
    elif state.ball is None:
        turn, command = f"The ball is free: wc take {quoted(name)}.", "say"
    else:
        turn, command = (
            "Someone else has the ball, and keeps it after an ack.",
            "ack",
        )
    return _ThreadTurn(word(name), quoted(one_line(name)), turn, command)


def _task_messages(task: str, *answers: ToolResult) -> list[Message]:
    data = "\n".join(
        getattr(block, "text", "") for answer in answers for block in answer.content
    )
    return [Message(task), Message(data)]


class _FunctionPrompt(Prompt):
    """A prompt that a function answers; it gets the arguments unchanged.

    The framework's own class tells clients to write JSON for plain text.
    """

    answer: Callable[..., list[Message]]

    async def render(self, arguments: dict[str, Any] | None = None) -> PromptResult:
        """Returns the messages. wc's errors pass through."""
        messages = await asyncio.to_thread(self.answer, **(arguments or {}))
        return PromptResult(messages, description=self.description)


_TOPIC = PromptArgument(name="topic", description="The thread's topic", required=True)
_SINCE = PromptArgument(
    name="since",
    description="A time, an age (90m, 3h, 2d) or an entry's id; else one day",
)
_TO = PromptArgument(name="to", description="Who gets the ball; else you choose")

_PROMPTS: tuple[
    tuple[Callable[..., list[Message]], str, tuple[PromptArgument, ...]], ...
] = (
    (catch_up, "What waits for you, and what happened since a given time.", (_SINCE,)),
    (
        review_thread,
        "Judge a thread: what is decided, what is open, what is wrong.",
        (_TOPIC,),
    ),
    (
        draft_handoff,
        "Write down what the next holder of a thread needs to know.",
        (_TOPIC, _TO),
    ),
)


def add_prompts(server: FastMCP) -> None:
    """Adds all prompts to the server."""
    for answer, description, arguments in _PROMPTS:
        server.add_prompt(
            _FunctionPrompt(
                name=answer.__name__,
                description=description,
                arguments=list(arguments),
                answer=guarded(answer),
            )
        )
