"""The commits of a branch, with what is needed to recognize them in another form."""

from __future__ import annotations

from wc_cli.edits.radar.snapshots import SNAPSHOT_AUTHOR
from wc_core.base.lean import re
from wc_core.edits.review.commits import OwnCommit, fingerprint

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from wc_cli.ledger.branch.git import Git

# More commits than anyone reviews.
MAX_COMMITS = 300
_FORMAT = ("--no-commit-header", "--encoding=UTF-8", "--format=%H%x00%ae%x00%at%x00%s")
_DIFF = (
    *("diff-tree", "--stdin", "-r", "-p", "--root", "--unified=0", "--full-index"),
    *("--no-renames", "--no-ext-diff", "--no-textconv", "--no-color"),
    *("--src-prefix=a/", "--dst-prefix=b/"),
)
_OID_LINE = re.compile(rb"(?m)^([0-9a-f]{40}(?:[0-9a-f]{24})?)\n")


def own_commits(
    git: Git, span: Iterable[str], env: Mapping[str, str], *, first_parent: bool = False
) -> list[OwnCommit] | None:
    """The commits of a span in the words of ``git rev-list``, the oldest first, without
    merges and snapshots; with ``first_parent``, only those of the branch itself.
    ``None`` if there are more than `MAX_COMMITS`. Raises GitError."""
    words = ["rev-list", "--no-merges", "--topo-order", *_FORMAT]
    words += ["--first-parent"] if first_parent else []
    limit = f"--max-count={MAX_COMMITS + 1}"
    lines = git.run(*words, limit, *span, "--", env=env).decode(errors="replace")
    rows = [line.split("\0", 3) for line in lines.split("\n")[:-1]]
    if len(rows) > MAX_COMMITS:
        return None
    every = [OwnCommit(*row) for row in reversed(rows)]
    commits = [commit for commit in every if commit.author != SNAPSHOT_AUTHOR]
    patches = _fingerprints(git, [commit.commit for commit in commits], env)
    return [c._replace(patch=patches.get(c.commit, "")) for c in commits]


def _fingerprints(
    git: Git, commits: list[str], env: Mapping[str, str]
) -> dict[str, str]:
    """The fingerprint of each commit that changes something."""
    if not commits:
        return {}
    feed = "".join(f"{commit}\n" for commit in commits).encode()
    # Each line of a diff begins with a sign or a word, so none is an object id.
    _, *parts = _OID_LINE.split(git.run(*_DIFF, feed=feed, env=env))
    pairs = zip(parts[::2], parts[1::2], strict=True)
    return {oid.decode(): fingerprint(diff) for oid, diff in pairs if diff.strip()}
