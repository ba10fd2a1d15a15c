"""The claims of a repository, read and changed by one process of this clone at a time.

Claims on a folder and on a file in it are different refs, which git compares
separately. A lock keeps two processes of a clone from making both; for other clones,
see `remote`.
"""

from __future__ import annotations

import os
import time

from wc_cli.edits.claims import commits, transactions
from wc_cli.edits.claims.commits import ClaimCommitter
from wc_cli.ledger.branch.git import Git, GitError
from wc_cli.ledger.store import locks
from wc_cli.ledger.store.localfiles import LocalFiles
from wc_core.base.errors import StorageError, WcError
from wc_core.base.lean import contextlib
from wc_core.base.phrases import counted
from wc_core.edits.claims import book as books
from wc_core.edits.claims import refs
from wc_core.edits.claims.record import FOLDER
from wc_core.edits.claims.rules import RefMove

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from wc_core.base.layout import Layout
    from wc_core.edits.claims.book import Book
    from wc_core.edits.claims.rules import Change
    from wc_core.ledger.git.repository import Repository


class Registry:
    """Reads and changes the claims of ``repository``. The store at ``layout`` keeps an
    index of them."""

    def __init__(
        self, repository: Repository, layout: Layout, env: Mapping[str, str]
    ) -> None:
        self.repository = repository
        self.layout = layout
        self.env = env
        self.git = Git(repository.common, env, bare=True)

    def read(self) -> Book:
        """The claims. Records when each was first seen."""
        common = self.repository.common
        index, stamp = books.load_index(self.layout), refs.stamp(common)
        if refs.is_readable(common):
            book = books.read(common, index, self.read_commits)
        else:
            names = self._listed_refs()
            book = books.assemble(names, index, common, self.read_commits)
        if index.refs != book.refs or (book.refs and index.stamp != stamp):
            # Reading must not fail in a read-only store.
            with contextlib.suppress(WcError, OSError):
                self._remember(book, stamp)
        return book

    def _remember(self, book: Book, stamp: refs.RefsStamp) -> None:
        """Write the index, if the store has been made."""
        if os.path.isdir(self.layout.local):
            data = books.index_bytes(book, stamp, time.time_ns())
            LocalFiles(self.layout).write("claims/index.json", data)

    def read_commits(self, oids: list[str]) -> dict[str, bytes]:
        """The content of packed commits, read by git; missing commits are left out."""
        feed = "".join(f"{oid}\n" for oid in oids).encode()
        try:
            output = self.git.run("cat-file", "--batch", feed=feed)
        except GitError as error:
            raise StorageError(f"The claims cannot be read: {error}.") from error
        contents = {}
        while output:
            head, _, output = output.partition(b"\n")
            oid, kind, *size = head.split(b" ")
            if not size:
                continue  # git has no object of that id
            length = int(size[0])
            if kind == b"commit":
                contents[oid.decode()] = output[:length]
            output = output[length + 1 :]
        return contents

    def _listed_refs(self) -> dict[str, str]:
        """The refs of claims, listed by git: only git can read this ref format."""
        words = ("for-each-ref", "--format=%(refname) %(objectname)", FOLDER)
        try:
            lines = self.git.run(*words).decode("ascii", "replace").splitlines()
        except GitError as error:
            raise StorageError(f"The claims cannot be read: {error}.") from error
        pairs = (line.partition(" ") for line in lines)
        return {name: oid for name, _, oid in pairs}

    @contextlib.contextmanager
    def changing(self, seconds: float) -> Iterator[None]:
        """Hold this clone's lock during a block. Raises LockTimeoutError."""
        with locks.locked(
            self.layout.claims_lock, "wc claim", seconds, self.layout.root
        ):
            yield

    def store(self, changes: Iterable[Change]) -> list[RefMove]:
        """Store the commits of changes. Returns the moves of refs. Raises
        StorageError."""
        changes = tuple(changes)
        claims = [change.claim for change in changes if change.claim is not None]
        stored: dict[str, str] = {}
        if claims:
            committer = ClaimCommitter.of(self.repository, self.env)
            try:
                stored = commits.store_claims(self.git, committer, claims)
            except GitError as error:
                raise StorageError(
                    f"{counted(len(claims), 'claim')} could not be stored: {error}.",
                    "Nothing was changed. Check that git works here: git status",
                ) from error
        return [
            RefMove(change.ref, change.old, stored[change.ref] if change.claim else "")
            for change in changes
        ]

    def move(self, moves: Iterable[RefMove]) -> None:
        """Move refs, all or none. Raises LostRaceError, LockTimeoutError,
        StorageError."""
        transactions.move_refs(self.git, moves)
