"""The commits of claims, all stored by one git process."""

from __future__ import annotations

import zlib

from wc_core.base.lean import hashlib
from wc_core.base.values import NamedTuple
from wc_core.edits.claims import record
from wc_core.ledger.git import config
from wc_core.ledger.git.authorship import Authorship, Person, clean, git_identity

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from wc_cli.ledger.branch.git import Git
    from wc_core.edits.claims.record import Claim
    from wc_core.ledger.git.repository import Repository

# gitformat-pack(5): the types of objects, and the bits of an object's header.
_COMMIT, _TREE = 1, 2
_FIRST_BITS, _NEXT_BITS = 4, 7
_MORE = 0x80
_ADDRESS = "claims@localhost"


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
