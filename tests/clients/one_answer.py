"""A stand-in for the service of a model that gives one answer to everything, and
keeps what it was sent."""

from __future__ import annotations

import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

Event = dict[str, Any]

# What Gemini streams.
GEMINI: tuple[Event, ...] = (
    {
        "candidates": [
            {
                "content": {"role": "model", "parts": [{"text": "Done."}]},
                "finishReason": "STOP",
            }
        ],
        "usageMetadata": {"totalTokenCount": 2},
    },
)
# What OpenAI's responses are made of.
RESPONSES: tuple[Event, ...] = (
    {"type": "response.created", "response": {"id": "r"}},
    {
        "type": "response.output_item.done",
        "item": {
            "type": "message",
            "role": "assistant",
            "id": "m",
            "content": [{"type": "output_text", "text": "Done."}],
        },
    },
    {
        "type": "response.completed",
        "response": {
            "id": "r",
            "usage": {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2},
        },
    },
)


class Service(ThreadingHTTPServer):
    """Listens on a port of its own; ``told`` is what it was sent, as text."""

    daemon_threads = True

    def __init__(self, events: Sequence[Event]) -> None:
        super().__init__(("127.0.0.1", 0), _Answer)
        self.events = events
        self.told: list[str] = []

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


@contextmanager
def serving(events: Sequence[Event]) -> Iterator[Service]:
    """A service that answers with these events."""
    with Service(events) as service:
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

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.told.append(json.dumps(asked, ensure_ascii=False))
        data = "".join(_event(one) for one in self.server.events).encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def _event(fields: Event) -> str:
    named = f"event: {fields['type']}\n" if "type" in fields else ""
    return f"{named}data: {json.dumps(fields)}\n\n"
