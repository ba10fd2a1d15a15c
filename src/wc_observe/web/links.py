"""The addresses of pages; no other module builds them."""

from __future__ import annotations

from urllib.parse import quote, urlencode

from wc_core.base.values import NamedTuple


class Links(NamedTuple):
    """Builds addresses.

    ``base`` is the path of all pages of a store and contains the secret; ``files`` is
    the path of static files, ``home`` that of pages about all stores.
    """

    base: str
    files: str
    home: str = ""

    def board(self, **query: str) -> str:
        """The board."""
        return _with_query(f"{self.base}/", query)

    def threads(self, **query: str) -> str:
        """The list of threads."""
        return _with_query(f"{self.base}/threads", query)

    def thread(self, topic: str, **query: str) -> str:
        """One thread."""
        return _with_query(f"{self.base}/threads/{quote(topic, safe='')}", query)

    def entry(self, topic: str, idx: int) -> str:
        """One entry in full."""
        return f"{self.thread(topic)}/{idx}"

    def search(self, **query: str) -> str:
        """Search results."""
        return _with_query(f"{self.base}/search", query)

    def edits(self) -> str:
        """Who edits what."""
        return f"{self.base}/edits"

    def inbox(self) -> str:
        """What needs the viewer in all stores."""
        return f"{self.home or self.base}/inbox"

    def in_store(self, key: str) -> Links:
        """The addresses of another store; with an empty key, of the first one."""
        home = self.home or self.base
        return Links(f"{home}/in/{key}" if key else home, self.files, home)

    def icon(self) -> str:
        """The icon of the repository."""
        return f"{self.base}/icon.svg"

    def events(self) -> str:
        """The stream of changes."""
        return f"{self.base}/events"

    def file(self, name: str) -> str:
        """A static file."""
        return f"{self.files}/{name}"


def _with_query(path: str, query: dict[str, str]) -> str:
    pairs = {key: value for key, value in query.items() if value}
    return f"{path}?{urlencode(pairs)}" if pairs else path
