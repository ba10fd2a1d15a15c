"""A server on loopback that speaks OpenAI's API, and can answer badly.

Completions repeat the first words of the last message; embeddings have four numbers
that depend on the letters of a text.
"""

from __future__ import annotations

import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple, Self

COMPLETIONS, EMBEDDINGS = "/v1/chat/completions", "/v1/embeddings"


class Asked(NamedTuple):
    """A request that came, whatever it was answered."""

    path: str
    fields: dict[str, Any]
    headers: dict[str, str]


class Planned(NamedTuple):
    """An answer that is given instead of the right one, after a pause."""

    status: int = 200
    body: bytes = b""
    headers: tuple[tuple[str, str], ...] = ()
    pause: float = 0.0


class ModelServer:
    """A server in a thread. ``planned`` are the next answers; each right
    one comes after a ``pause``."""

    def __init__(self) -> None:
        self.asked: list[Asked] = []
        self.planned: list[Planned] = []
        self.pause = 0.0
        owner = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                length = int(self.headers["Content-Length"])
                fields = json.loads(self.rfile.read(length))
                owner.asked.append(Asked(self.path, fields, dict(self.headers)))
                answer = owner.next_answer(self.path, fields)
                time.sleep(answer.pause)
                self.send_response(answer.status)
                for name, value in answer.headers:
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(answer.body)))
                self.end_headers()
                self.wfile.write(answer.body)

            def log_message(self, *_: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.02,))

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

    def next_answer(self, path: str, fields: dict[str, Any]) -> Planned:
        if self.planned:
            return self.planned.pop(0)
        if path == COMPLETIONS:
            return Planned(body=completion(_summary(fields)), pause=self.pause)
        if path == EMBEDDINGS:
            return Planned(body=_embeddings(fields["input"]), pause=self.pause)
        return Planned(404, b'{"error": {"message": "no such path"}}')


def completion(text: str | None, ending: str = "stop") -> bytes:
    """The answer with this text."""
    message = {"role": "assistant", "content": text}
    choices = [{"index": 0, "message": message, "finish_reason": ending}]
    return json.dumps({"object": "chat.completion", "choices": choices}).encode()


def _summary(fields: dict[str, Any]) -> str:
    words = str(fields["messages"][-1]["content"]).split()
    return f"In short: {' '.join(words[:12])}"


def _embeddings(texts: list[str]) -> bytes:
    data = [
        {"index": place, "embedding": [float(len(text) % n) for n in (3, 5, 7, 11)]}
        for place, text in enumerate(texts)
    ]
    return json.dumps({"object": "list", "data": data}).encode()
