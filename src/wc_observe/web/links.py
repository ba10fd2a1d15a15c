"""The addresses of the page: the one place that knows how they are made."""

from __future__ import annotations

from typing import NamedTuple
from urllib.parse import quote, urlencode


class Links(NamedTuple):
    """``base`` is the path below which everything is, the secret in it;
    ``files`` that of what comes with the program."""

    base: str
    files: str

    def board(self, **said: str) -> str:
        """Whose move it is."""
        return _asked(f"{self.base}/", said)

    def threads(self, **said: str) -> str:
        """Threads as a list."""
        return _asked(f"{self.base}/threads", said)

    def thread(self, topic: str, **said: str) -> str:
        """One thread."""
        return _asked(f"{self.base}/threads/{quote(topic, safe='')}", said)

    def entry(self, topic: str, idx: int) -> str:
        """One entry, whole."""
        return f"{self.thread(topic)}/{idx}"

    def search(self, **said: str) -> str:
        """Entries that have some words."""
        return _asked(f"{self.base}/search", said)

    def timeline(self, topic: str = "", **said: str) -> str:
        """Who held the ball when: of one thread, or of all."""
        rest = f"/{quote(topic, safe='')}" if topic else ""
        return _asked(f"{self.base}/timeline{rest}", said)

    def picture(self, topic: str = "") -> str:
        """The same as a picture."""
        rest = f"/{quote(topic, safe='')}" if topic else ""
        return f"{self.base}/timeline.svg{rest}"

    def events(self) -> str:
        """What changes, as it happens."""
        return f"{self.base}/events"

    def file(self, name: str) -> str:
        """A style, a script, an icon."""
        return f"{self.files}/{name}"


def _asked(path: str, said: dict[str, str]) -> str:
    kept = {key: value for key, value in said.items() if value}
    return f"{path}?{urlencode(kept)}" if kept else path
