"""The new names of claimed paths after their holder has renamed them."""

from __future__ import annotations

import os
import time
import unicodedata

from wc_cli.ledger.branch.git import Git, GitError
from wc_core.base.values import NamedTuple
from wc_core.edits.claims import held
from wc_core.edits.claims.ids import ClaimId, is_canonical
from wc_core.ledger.git.repository import is_object_id

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from wc_cli.edits.claims.registry import Registry
    from wc_core.edits.claims.record import Claim

# A record comes from a ref, which anyone may have written.
_DIFF = (
    *("diff", "-M", "--name-status", "--diff-filter=R", "-z"),
    *("--no-relative", "--ignore-submodules"),
)
# Comparing takes long if very many paths were renamed.
_SECONDS = 5.0
_MOST = 50


class Renamed(NamedTuple):
    """A claim whose path is gone, and its new targets."""

    claim: Claim
    target: ClaimId


def renamed(registry: Registry, claims: Sequence[Claim]) -> list[Renamed]:
    """The claims whose path their holder has renamed in this worktree since they were
    made, as far as git knows from the files, the index and commits. git only runs if a
    path is gone."""
    top = registry.repository.top
    absent = set(held.absent(top, claims))
    # A file that does not exist yet cannot be missing.
    planned = {claim.id for claim in claims if claim.new and not claim.target.symbol}
    gone = [claim for claim in claims if claim.id in absent - planned]
    until = time.monotonic() + _SECONDS
    by_ref: dict[str, Renamed] = {}
    for head in sorted({claim.head for claim in gone if is_object_id(claim.head)}):
        git = Git(top, registry.env, until=until)
        try:
            pairs = list(_pairs(git.run(*_DIFF, head, "--")))
            items = [
                Renamed(claim, target)
                for claim in gone
                if claim.head == head
                for target in _targets(git, claim, pairs)
            ]
        except GitError:
            continue  # that commit is gone, or there is too much to compare
        for item in items:
            by_ref.setdefault(item.claim._replace(id=str(item.target)).ref, item)
    return list(by_ref.values())


def _pairs(output: bytes) -> Iterator[tuple[str, str]]:
    """The old and the new path on each line of git-diff(1)'s output."""
    fields = os.fsdecode(output).split("\0")
    for old, new in zip(fields[1::3], fields[2::3], strict=False):
        yield unicodedata.normalize("NFC", old), unicodedata.normalize("NFC", new)


def _targets(
    git: Git, claim: Claim, pairs: Iterable[tuple[str, str]]
) -> Iterable[ClaimId]:
    """The targets of a claim after these renames. For a folder, that is the new folder
    if it was not there before; otherwise its files, so that the rest of the folder
    stays free."""
    path, symbol = claim.target
    targets: dict[ClaimId, None] = {}
    folders: dict[str, bool] = {}
    for old, new in pairs:
        if old == path:
            targets[ClaimId(new, symbol)] = None
        elif old.startswith(f"{path}/"):
            rest = old[len(path) :]
            folder = new.removesuffix(rest) if new.endswith(rest) else ""
            if folder and folder not in folders:
                folders[folder] = not _has(git, claim.head, folder)
            targets[ClaimId(folder if folders.get(folder) else new)] = None
    return [target for target in targets if is_canonical(str(target))][:_MOST]


def _has(git: Git, commit: str, path: str) -> bool:
    """Return whether a commit has a path."""
    return git.run("ls-tree", "--full-tree", commit, "--", path) != b""
