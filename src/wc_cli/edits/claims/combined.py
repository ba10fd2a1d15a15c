"""The claims of a remote in one branch there, changed by compare-and-swap.

For remotes that refuse refs below ``refs/wc`` or atomic pushes. If a remote has that
branch, all clones keep their claims in it.
"""

from __future__ import annotations

from wc_cli.edits.claims import commits
from wc_cli.edits.claims.commits import ClaimCommitter
from wc_cli.ledger.branch.git import GitError
from wc_core.base.errors import StorageError
from wc_core.base.layout import CLAIMS_BRANCH
from wc_core.edits.claims import combined
from wc_core.ledger.git.repository import resolve

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from wc_cli.edits.claims.registry import Registry
    from wc_core.edits.claims.combined import CombinedClaims

REF = f"refs/heads/{CLAIMS_BRANCH}"


class CombinedBranch:
    """The branch as it was fetched from a remote, which is identified by a digest."""

    def __init__(self, registry: Registry, digest: str) -> None:
        self.registry = registry
        self.tracking = f"refs/wc/combined/{digest}/claims"
        # A pattern, because fetching a missing ref by its name fails.
        self.refspec = f"+{REF}*:{self.tracking}*"

    @property
    def tip(self) -> str:
        """The branch's commit; empty if the remote had no such branch."""
        return resolve(self.registry.repository, self.tracking)

    def read(self) -> CombinedClaims | None:
        """The claims at the tip; ``None`` if there is no branch, or an unrelated one of
        that name. Raises StorageError."""
        tip = self.tip
        content = self.registry.read_commits([tip]).get(tip) if tip else None
        claims = combined.decode(content, tip) if content is not None else None
        if claims is None:
            return None
        # A hostile branch may name commits that it doesn't contain.
        existing = self.registry.existing(claims.claims.values())
        own = {ref: oid for ref, oid in claims.claims.items() if oid in existing}
        return claims._replace(claims=own)

    def store(self, before: CombinedClaims, after: Mapping[str, str]) -> str:
        """Store a commit with the claims ``after`` on top of ``before``. Returns its
        id. Raises StorageError."""
        registry = self.registry
        came = set(after.values()) - set(before.claims.values() if before.tip else ())
        parents = [before.tip] if before.tip else []
        committer = ClaimCommitter.of(registry.repository, registry.env)
        claims = before._replace(claims=after)
        try:
            return commits.store_combined(
                registry.git, committer, claims, [*parents, *sorted(came)]
            )
        except GitError as error:
            raise StorageError(f"The claims could not be stored: {error}.") from error
