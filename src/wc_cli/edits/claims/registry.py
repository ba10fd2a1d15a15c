"""The claims of a repository, read and changed by one process of this clone at a time.

Claims on a folder and on a file in it are different refs, which git compares
separately. A lock keeps two processes of a clone from making both; for other clones,
see `remote`.
"""

from __future__ import annotations

import os
import time
import zlib

from wc_cli.edits.claims import transactions
from wc_cli.ledger.branch.git import Git, GitError
from wc_cli.ledger.store import locks
from wc_cli.ledger.store.localfiles import LocalFiles
from wc_core.base.errors import StorageError, WcError
from wc_core.base.lean import contextlib, hashlib
from wc_core.base.phrases import counted
from wc_core.base.values import NamedTuple
from wc_core.edits.claims import book as books
from wc_core.edits.claims import record, refs
from wc_core.edits.claims.record import FOLDER
from wc_core.edits.claims.rules import RefMove
from wc_core.ledger.git import config
from wc_core.ledger.git.authorship import Authorship, Person, clean, git_identity

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from wc_core.base.layout import Layout
    from wc_core.edits.claims.book import Book
    from wc_core.edits.claims.record import Claim
    from wc_core.edits.claims.rules import Change
    from wc_core.ledger.git.repository import Repository

# gitformat-pack(5): the types of objects, and the bits of an object's header.
_COMMIT, _TREE = 1, 2
_FIRST_BITS, _NEXT_BITS = 4, 7
_MORE = 0x80
_ADDRESS = "claims@localhost"


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
                stored = store_claims(self.git, committer, claims)
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


class ClaimCommitter(NamedTuple):
    """The author of the claims' commits in a repository, and the repository's object
    hash."""

    identity: Authorship
    algorithm: str

    @classmethod
    def of(cls, repository: Repository, env: Mapping[str, str]) -> ClaimCommitter:
        """The user that git is configured for."""
        format_key = "extensions.objectformat"
        algorithm = config.get(format_key, repository, env).lower()
        identity = git_identity(repository, env)
        return cls(identity, "sha256" if algorithm == "sha256" else "sha1")

    def _authorship_of(self, claim: Claim) -> Authorship:
        """The holder as the author, and the user as the committer."""
        person = self.identity.committer
        author = Person(clean(claim.holder), person.email or _ADDRESS)
        return self.identity._replace(author=author, committer=person.or_else(author))

    def commit_of(self, claim: Claim) -> bytes:
        """The content of a claim's commit."""
        authorship = self._authorship_of(claim)
        head = (
            f"tree {self.oid(b'tree', b'')}\n"
            f"author {authorship.author} {claim.at} +0000\n"
            f"committer {authorship.committer} {claim.at} +0000\n\n"
        )
        return head.encode(errors="replace") + record.encode(claim)

    def oid(self, kind: bytes, content: bytes) -> str:
        """The id of an object."""
        head = b"%s %d\0" % (kind, len(content))
        return hashlib.new(
            self.algorithm, head + content, usedforsecurity=False
        ).hexdigest()


def store_claims(
    git: Git, committer: ClaimCommitter, claims: Iterable[Claim]
) -> dict[str, str]:
    """Store the commits of claims, without refs. Returns the commit of each ref. Raises
    GitError."""
    contents = {claim.ref: committer.commit_of(claim) for claim in claims}
    git.run("unpack-objects", "-q", feed=_pack_of(contents.values(), committer))
    return {ref: committer.oid(b"commit", data) for ref, data in contents.items()}


def _pack_of(commits: Iterable[bytes], committer: ClaimCommitter) -> bytes:
    """A pack with the commits and their empty tree."""
    objects = [(_TREE, b""), *((_COMMIT, content) for content in commits)]
    parts = [b"PACK", (2).to_bytes(4), len(objects).to_bytes(4)]
    for kind, content in objects:
        parts += [_object_head(kind, len(content)), zlib.compress(content, 1)]
    body = b"".join(parts)
    checksum = hashlib.new(committer.algorithm, body, usedforsecurity=False)
    return body + checksum.digest()


def _object_head(kind: int, size: int) -> bytes:
    """The type and the size of an object, the lowest bits first."""
    head = bytearray()
    byte = kind << _FIRST_BITS | size & ((1 << _FIRST_BITS) - 1)
    size >>= _FIRST_BITS
    while size:
        head.append(byte | _MORE)
        byte = size & ((1 << _NEXT_BITS) - 1)
        size >>= _NEXT_BITS
    head.append(byte)
    return bytes(head)
