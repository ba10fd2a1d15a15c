"""The service of a model that makes the calls of tools it was given, one a turn, in the
forms of Anthropic's messages, OpenAI's responses and chat, and Gemini's content.

A sub-agent has turns of its own: it is who asks without the person's prompt. What the
client sends for each turn is kept: it is what a model would read.
"""

from __future__ import annotations

import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

Fields = dict[str, Any]


class Call(NamedTuple):
    """A call of a tool. ``arguments`` is a text for one that takes a text."""

    tool: str
    arguments: Fields | str
    namespace: str = ""


class Text(NamedTuple):
    """What a model says; a sub-agent ends with it."""

    text: str


Turn = Call | Text
PROMPT = "Please make the changes that we talked about."
MAIN, SUB = "main", "sub"
_END = Text("Done.")
_USAGE = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}


class Service(ThreadingHTTPServer):
    """Listens on a port of its own. ``read`` has the texts that were sent for each
    turn, by who takes it."""

    daemon_threads = True

    def __init__(self, turns: Mapping[str, Sequence[Turn]]) -> None:
        super().__init__(("127.0.0.1", 0), _Answer)
        self.turns = turns
        self.read: dict[str, list[str]] = {who: [] for who in turns}
        # What a person's prompt has in it.
        self.prompt = PROMPT
        # Made in the next turn, where a test did not know before which that is.
        self.next_call: Call | None = None
        self.lock = threading.Lock()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def next_turn(self, body: Fields, tools: Any) -> tuple[str, Turn]:
        """The id of the next turn, and what the model does in it. Who asks without
        ``tools`` wants a title, or a summary."""
        if not tools:
            return "aside", _END
        text = "\n".join(_texts(body))
        who = MAIN if self.prompt in text else SUB
        with self.lock:
            number, turns = len(self.read[who]), self.turns[who]
            self.read[who].append(text)
            if who == MAIN and self.next_call is not None:
                call, self.next_call = self.next_call, None
                return f"{who}_{number}", call
        return f"{who}_{number}", turns[number] if number < len(turns) else _END

    def before(self, call: Call, who: str = MAIN) -> str:
        """What the model has read when it makes a call."""
        return self.read[who][self.turns[who].index(call)]

    def after(self, call: Call, who: str = MAIN) -> str:
        """What it has read when it takes the turn after a call."""
        return self.read[who][self.turns[who].index(call) + 1]


@contextmanager
def serving(*turns: Turn, sub: Sequence[Turn] = ()) -> Iterator[Service]:
    """A service whose model takes these turns, and ends."""
    with Service({MAIN: turns, SUB: sub}) as service:
        thread = threading.Thread(target=service.serve_forever)
        thread.start()
        try:
            yield service
        finally:
            service.shutdown()
            thread.join()


class _Answer(BaseHTTPRequestHandler):
    server: Service

    def log_message(self, *_: Any) -> None:
        """Say nothing."""

    def do_HEAD(self) -> None:
        self._reply("application/json", "")

    def do_GET(self) -> None:
        self._reply("application/json", '{"data": [], "models": []}')

    def do_POST(self) -> None:
        size = int(self.headers.get("Content-Length") or 0)
        body = json.loads(self.rfile.read(size) or b"{}")
        path = self.path.partition("?")[0]
        answer = next((make for end, make in _SERVICES if path.endswith(end)), None)
        if answer is None:
            self._reply("application/json", '{"input_tokens": 1, "totalTokens": 1}')
            return
        events = answer(self.server, body)
        self._reply("text/event-stream", "".join(map(_event, events)))

    def _reply(self, kind: str, text: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(text.encode())))
        self.end_headers()
        self.wfile.write(text.encode())


def _event(fields: Fields) -> str:
    named = f"event: {fields['type']}\n" if "type" in fields else ""
    return f"{named}data: {json.dumps(fields)}\n\n"


def _texts(part: Any) -> Iterator[str]:
    """The texts in a part of a request, whatever its shape."""
    if isinstance(part, str):
        yield part
    elif isinstance(part, dict | list):
        for item in part.values() if isinstance(part, dict) else part:
            yield from _texts(item)


def _messages(service: Service, body: Fields) -> Iterator[Fields]:
    """Anthropic's messages."""
    turn_id, turn = service.next_turn(body, body.get("tools"))
    start: Fields = {"id": f"msg_{turn_id}", "type": "message", "role": "assistant"}
    start |= {"model": "stand-in", "content": [], "usage": _USAGE}
    start |= {"stop_reason": None, "stop_sequence": None}
    yield {"type": "message_start", "message": start}
    if isinstance(turn, Call):
        block = {"type": "tool_use", "id": turn_id, "name": turn.tool, "input": {}}
        delta = {
            "type": "input_json_delta",
            "partial_json": json.dumps(turn.arguments),
        }
    else:
        block = {"type": "text", "text": ""}
        delta = {"type": "text_delta", "text": turn.text}
    yield {"type": "content_block_start", "index": 0, "content_block": block}
    yield {"type": "content_block_delta", "index": 0, "delta": delta}
    yield {"type": "content_block_stop", "index": 0}
    reason = "tool_use" if isinstance(turn, Call) else "end_turn"
    end = {"stop_reason": reason, "stop_sequence": None}
    yield {"type": "message_delta", "delta": end, "usage": {"output_tokens": 1}}
    yield {"type": "message_stop"}


def _responses(service: Service, body: Fields) -> Iterator[Fields]:
    """OpenAI's responses."""
    kinds = {item.get("type") for item in body["input"]}
    tools = body.get("tools") or "additional_tools" in kinds
    turn_id, turn = service.next_turn(body, tools)
    item: Fields
    if isinstance(turn, Text):
        content = [{"type": "output_text", "text": turn.text, "annotations": []}]
        item = {"type": "message", "role": "assistant", "content": content}
    elif isinstance(turn.arguments, str):
        item = {"type": "custom_tool_call", "input": turn.arguments}
    else:
        item = {"type": "function_call", "arguments": json.dumps(turn.arguments)}
    if isinstance(turn, Call):
        item |= {"call_id": turn_id, "name": turn.tool}
        item |= {"namespace": turn.namespace} if turn.namespace else {}
    item |= {"id": f"item_{turn_id}", "status": "completed"}
    response: Fields = {"id": f"response_{turn_id}"}
    yield {"type": "response.created", "response": response}
    for event in ("added", "done"):
        yield {"type": f"response.output_item.{event}", "output_index": 0, "item": item}
    response |= {"status": "completed", "output": [item], "usage": _USAGE}
    yield {"type": "response.completed", "response": response}


def _gemini(service: Service, body: Fields) -> Iterator[Fields]:
    """Gemini's content."""
    tools = any(tool.get("functionDeclarations") for tool in body.get("tools") or ())
    turn_id, turn = service.next_turn(body, tools)
    part: Fields
    if isinstance(turn, Call):
        call = {"id": turn_id, "name": turn.tool, "args": turn.arguments}
        part = {"functionCall": call}
    else:
        part = {"text": turn.text}
    candidate = {
        "content": {"role": "model", "parts": [part]},
        "finishReason": "STOP",
        "index": 0,
    }
    yield {"candidates": [candidate], "usageMetadata": {"totalTokenCount": 2}}


def _chat(service: Service, body: Fields) -> Iterator[Fields]:
    """OpenAI's chat completions."""
    turn_id, turn = service.next_turn(body, body.get("tools"))
    delta: Fields = {"role": "assistant"}
    if isinstance(turn, Call):
        function = {"name": turn.tool, "arguments": json.dumps(turn.arguments)}
        call = {"index": 0, "id": turn_id, "type": "function", "function": function}
        delta |= {"tool_calls": [call]}
    else:
        delta |= {"content": turn.text}
    reason = "tool_calls" if isinstance(turn, Call) else "stop"
    chunk: Fields = {"id": turn_id, "object": "chat.completion.chunk", "created": 1}
    chunk |= {"model": "stand-in"}
    for part, finish in ((delta, None), ({}, reason)):
        choice = {"index": 0, "delta": part, "finish_reason": finish}
        yield chunk | {"choices": [choice]}


_SERVICES: tuple[tuple[str, Callable[[Service, Fields], Iterator[Fields]]], ...] = (
    ("/messages", _messages),
    ("/responses", _responses),
    ("/chat/completions", _chat),
    ("streamGenerateContent", _gemini),
)
