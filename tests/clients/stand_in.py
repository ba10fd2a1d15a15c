"""A stand-in for the service of a model: an agent is then a real client, offline.

It answers Anthropic's messages with the calls of tools that it was given, one
after the other, then with a word. What the agent sends back is kept: it is what
a model would have read.
"""

from __future__ import annotations

import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

Call = tuple[str, dict[str, Any]]


class Service(ThreadingHTTPServer):
    """Listens on a port of its own. ``told`` is what the model was told at first,
    ``read`` the answers of tools that it has been sent, ``asked`` all it was."""

    daemon_threads = True

    def __init__(self, calls: Sequence[Call]) -> None:
        super().__init__(("127.0.0.1", 0), _Answer)
        self.calls = calls
        self.told = ""
        self.read: list[str] = []
        self.asked: list[Any] = []

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


@contextmanager
def serving(*calls: Call) -> Iterator[Service]:
    """A service whose model makes these calls, by the ends of the tools' names."""
    with Service(calls) as service:
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

    def do_POST(self) -> None:
        size = int(self.headers["Content-Length"])
        asked = json.loads(self.rfile.read(size))
        if asked.get("stream"):
            self._reply("text/event-stream", _stream(self._next(asked)))
        else:
            self._reply("application/json", json.dumps({"input_tokens": 1}))

    def _next(self, asked: dict[str, Any]) -> dict[str, Any]:
        """The content of the model's next message."""
        results = [
            block["content"]
            for message in asked["messages"]
            for block in message["content"]
            if isinstance(block, dict) and block["type"] == "tool_result"
        ]
        self.server.asked.append(asked["messages"])
        self.server.told = self.server.told or json.dumps(asked["messages"])
        self.server.read[:] = [_text(one) for one in results]
        names = [tool["name"] for tool in asked.get("tools", ())]
        if len(results) == len(self.server.calls):
            return {"type": "text", "text": "Done."}
        ending, arguments = self.server.calls[len(results)]
        found = [name for name in names if name.endswith(ending)]
        if not found:
            return {"type": "text", "text": f"There is no {ending}."}
        number = f"toolu_{len(results)}"
        return {"type": "tool_use", "id": number, "name": found[0], "input": arguments}

    def _reply(self, kind: str, text: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(text.encode())))
        self.end_headers()
        self.wfile.write(text.encode())


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "".join(block.get("text", "") for block in content)


def _stream(block: dict[str, Any]) -> str:
    """A message of one block, as the service's events."""
    usage = {"input_tokens": 1, "output_tokens": 1}
    uses = block["type"] == "tool_use"
    if uses:
        empty: dict[str, Any] = {"input": {}}
        part = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
    else:
        empty = {"text": ""}
        part = {"type": "text_delta", "text": block["text"]}
    message: dict[str, Any] = {"id": "msg", "type": "message", "role": "assistant"}
    message |= {"model": "stand-in", "content": [], "usage": usage}
    message |= {"stop_reason": None, "stop_sequence": None}
    end = {"stop_reason": "tool_use" if uses else "end_turn", "stop_sequence": None}
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": message},
        {"type": "content_block_start", "index": 0, "content_block": block | empty},
        {"type": "content_block_delta", "index": 0, "delta": part},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": end, "usage": {"output_tokens": 1}},
        {"type": "message_stop"},
    ]
    return "".join(
        f"event: {one['type']}\ndata: {json.dumps(one)}\n\n" for one in events
    )
