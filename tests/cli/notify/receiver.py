"""Servers on loopback that take webhooks and check what the real ones check.

- ntfy: ``POST /`` with JSON; a topic, a priority from 1 to 5, tags that are a list
- Slack: JSON with a text, answered with ``ok``; links and mentions are markup
- any other path: JSON, answered with 204
"""

from __future__ import annotations

import json
import re
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple, Self

SLACK = "/services/T0/B0/secret"


class Received(NamedTuple):
    """A request that was answered."""

    path: str
    fields: dict[str, Any]
    headers: dict[str, str]


class Receiver:
    """A server in a thread. ``answers`` are statuses for the next requests."""

    def __init__(self) -> None:
        self.requests: list[Received] = []
        self.answers: list[int] = []
        self.headers: dict[str, str] = {}
        owner = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                length = int(self.headers["Content-Length"])
                text = self.rfile.read(length).decode()
                status, body = owner.answer(self.path, text, dict(self.headers))
                self.send_response(status)
                for name, value in owner.headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body.encode())

            def log_message(self, *_: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.thread = threading.Thread(target=self.server.serve_forever)

    def __enter__(self) -> Self:
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.server_address[1]}"

    @property
    def host(self) -> str:
        return self.url.removeprefix("http://")

    def answer(self, path: str, text: str, headers: dict[str, str]) -> tuple[int, str]:
        fields = json.loads(text)
        self.requests.append(Received(path, fields, headers))
        if self.answers:
            return self.answers.pop(0), f"no: {path}"
        if path == "/":
            return self._as_ntfy(fields)
        if path == SLACK:
            return self._as_slack(fields, headers)
        return 204, ""

    def _as_ntfy(self, fields: dict[str, Any]) -> tuple[int, str]:
        if not re.fullmatch(r"[-_A-Za-z0-9]{1,64}", fields["topic"]):
            return 400, '{"code":40009,"error":"invalid request: topic invalid"}'
        kinds = {"title": str, "message": str, "priority": int, "tags": list}
        if not all(isinstance(fields[name], kind) for name, kind in kinds.items()):
            return 400, '{"code":40017,"error":"request body must be message JSON"}'
        if not 1 <= fields["priority"] <= 5:
            return 400, '{"code":40007,"error":"invalid priority"}'
        return 200, json.dumps({"id": "x", "event": "message"})

    def _as_slack(
        self, fields: dict[str, Any], headers: dict[str, str]
    ) -> tuple[int, str]:
        if not headers["Content-Type"].startswith("application/json"):
            return 400, "invalid_payload"
        if not fields.get("text"):
            return 400, "no_text"
        return 200, "ok"

    def wait(self, count: int, seconds: float = 20.0) -> list[Received]:
        """The requests, as soon as there are so many."""
        end = time.monotonic() + seconds
        while len(self.requests) < count and time.monotonic() < end:
            time.sleep(0.02)
        assert len(self.requests) >= count, self.requests
        return self.requests
