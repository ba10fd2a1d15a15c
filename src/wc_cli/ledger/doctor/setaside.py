"""Stores that were set aside because a former repository at the same path left them.

If one is an earlier checkout of this store, its entries that this store lacks are
merged in. A store of another project must not leak into this one, so it counts only if
git or the entries themselves prove it.
"""

from __future__ import annotations

from functools import cached_property

from wc_cli.ledger.branch.git import Git, GitError
from wc_cli.ledger.store import applied
from wc_core.base.errors import WcError
from wc_core.ledger.git import discovery, storefolder
from wc_core.ledger.threads import codec
from wc_core.ledger.threads.model import Entry
from wc_core.ledger.threads.reader import StoreReader

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from wc_core.base.layout import Layout


class SetAsideStores:
    """The stores that were set aside for the store at ``layout``. Each is read on
    demand; nothing is written to them."""

    def __init__(self, layout: Layout, env: Mapping[str, str]) -> None:
        self._layout = layout
        self._env = env
        self._checkout = discovery.checkout_at(layout.root)

    @cached_property
    def stores(self) -> tuple[StoreReader, ...]:
        """All stores that were set aside."""
        if self._checkout is None:
            return ()
        folders = storefolder.set_aside(self._checkout, self._env)
        return tuple(map(StoreReader, folders))

    @cached_property
    def earlier(self) -> tuple[StoreReader, ...]:
        """The stores that are earlier checkouts of this one."""
        return tuple(store for store in self.stores if self._is_same(store))

    def topics(self) -> set[str]:
        """The threads with a log in an earlier checkout of this store."""
        return {
            topic
            for store in self.earlier
            for topic in _topics(store)
            if _log_lines(store.layout, topic)
        }

    def lines(self, topic: str) -> dict[str, bytes]:
        """The lines of a thread, by id, in earlier checkouts of this store."""
        lines: dict[str, bytes] = {}
        for store in self.earlier:
            lines |= _log_lines(store.layout, topic)
        return lines

    def missing(self, store: StoreReader) -> int:
        """The number of entries of a store that the current one lacks."""
        return sum(
            len(lines.keys() - _log_lines(self._layout, topic))
            for topic in _topics(store)
            if (lines := _log_lines(store.layout, topic))
        )

    def _is_same(self, store: StoreReader) -> bool:
        return (
            self._has_its_commit(store)
            or self._has_its_entries(store)
            or self._has_its_code(store)
        )

    def _has_its_commit(self, store: StoreReader) -> bool:
        """Return whether the branch has the commit that a store last had. The first
        commit is the same in every store and proves nothing."""
        commit = applied.load(store.layout).commit
        if not commit:
            return False
        git = Git(self._layout.root, self._env)
        try:
            git.run("rev-parse", "--verify", "--quiet", f"{commit}^")
            git.run("merge-base", "--is-ancestor", commit, "HEAD")
        except GitError:
            return False  # it is unknown here, or on another branch
        return True

    def _has_its_entries(self, store: StoreReader) -> bool:
        """Return whether an entry of a store is also in the current one: ids are
        unique."""
        return any(
            not _log_lines(store.layout, topic)
            .keys()
            .isdisjoint(_log_lines(self._layout, topic))
            for topic in _topics(store)
        )

    def _has_its_code(self, store: StoreReader) -> bool:
        """Return whether this repository has at least half of the code commits that a
        store's entries name: unpushed ones are lost with a clone."""
        commits = set(_code_commits(store))
        count = self._known_commits(sorted(commits)) if commits else 0
        return count > 0 and 2 * count >= len(commits)

    def _known_commits(self, commits: Iterable[str]) -> int:
        feed = "".join(f"{commit}\n" for commit in commits).encode()
        git = Git(self._layout.root, {**self._env, "GIT_NO_LAZY_FETCH": "1"})
        try:
            lines = git.run("cat-file", "--batch-check", feed=feed).splitlines()
        except GitError:
            return 0  # doctor reports problems with git
        return sum(b" commit " in line for line in lines)


def _topics(store: StoreReader) -> list[str]:
    try:
        return store.all_topics_and_folders()[0]
    except WcError:
        return []  # it is not a store, or damaged: nothing is taken from it


def _log_lines(layout: Layout, topic: str) -> dict[str, bytes]:
    try:
        data = StoreReader(layout.root).log_bytes(topic)
    except WcError:
        return {}  # as if it were not there
    return codec.lines_by_id(topic, data or b"")


def _code_commits(store: StoreReader) -> Iterator[str]:
    for topic in _topics(store):
        for line in _log_lines(store.layout, topic).values():
            entry = codec.read_line(topic, line)
            if isinstance(entry, Entry) and entry.code_commit.isalnum():
                yield entry.code_commit
