"""Signed claims: making their commits, and asking git whose signature a commit has."""

from __future__ import annotations

import os

from wc_cli.edits.claims.commits import pack_of
from wc_cli.ledger.branch.commits import signed_commit
from wc_core.edits.claims import record, signatures

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from wc_cli.edits.claims.commits import ClaimCommitter
    from wc_cli.ledger.branch.git import Git
    from wc_core.edits.claims.record import Claim
    from wc_core.edits.claims.signatures import Signers

# A line of each commit: its id, the state of its signature, and the signer.
_FORMAT = "--format=tformat:%H %G? %GS"
# Verified claims count even if the rest takes too long.
_BATCH = 100
# git then doesn't check an ssh signature, and reports none.
_NO_SIGNERS = ", or git has no allowed_signers to check it with"


def sign_claims(
    git: Git, committer: ClaimCommitter, claims: Iterable[Claim]
) -> dict[str, str]:
    """Store the commits of claims with the user's signature, without refs. Returns the
    commit of each ref. Raises GitError."""
    git.run("unpack-objects", "-q", feed=pack_of((), committer))
    tree = committer.oid(b"tree", b"")
    return {
        claim.ref: signed_commit(
            git,
            tree,
            record.encode(claim).decode(),
            (),
            committer.authorship_of(claim),
            f"{claim.at} +0000",
        )
        for claim in claims
    }


def verify(git: Git, signers: Signers, claims: Sequence[Claim]) -> dict[str, str]:
    """The reason why the commit of a claim is refused, by git or for its signer's name,
    by claim id; empty for a valid one. Raises GitError."""
    options = ["-c", "log.showSignature=false"]
    if signers.path:
        options += ["-c", f"gpg.ssh.allowedSignersFile={signers.path}"]
    words = (*options, "log", "--no-walk=unsorted", "--stdin", _FORMAT)
    # Otherwise a replace ref could substitute another commit.
    env = {"GIT_NO_REPLACE_OBJECTS": "1"}
    refusals = {}
    feed = "".join(f"{claim.oid}\n" for claim in claims).encode()
    holders = {claim.oid: claim.holder for claim in claims}
    for line in os.fsdecode(git.run(*words, feed=feed, env=env)).split("\n"):
        oid, _, signature = line.partition(" ")
        status, _, signer = signature.partition(" ")
        if oid in holders:
            refusals[oid] = signatures.refusal(status, signer, holders[oid])
            if status == signatures.NONE and not signers.is_set:
                refusals[oid] += _NO_SIGNERS
    return refusals


def batches(claims: Sequence[Claim]) -> Iterable[Sequence[Claim]]:
    """The claims in batches that git verifies in a second or two."""
    return (claims[start : start + _BATCH] for start in range(0, len(claims), _BATCH))
