"""Which commits of a branch come from the trunk, and which are its own."""

from __future__ import annotations

from itertools import pairwise

from wc_cli.edits.radar.snapshots import SNAPSHOT_AUTHOR
from wc_cli.ledger.branch.git import GitError
from wc_core.base.lean import re
from wc_core.edits.review.commits import OwnCommit, fingerprint, first_own
from wc_core.ledger.git import repository as repositories
from wc_core.ledger.git import worktrees
from wc_core.ledger.git.trunk import find_base

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from wc_cli.ledger.branch.git import Git
    from wc_core.ledger.git.repository import Repository

_MAX_UPDATES = 100
_BETWEEN_NAMES = re.compile(r"[\s:'\",]+")
# More commits than anyone reviews.
MAX_COMMITS = 300
_FORMAT = ("--no-commit-header", "--encoding=UTF-8", "--format=%H%x00%ae%x00%at%x00%s")
_DIFF = (
    *("diff-tree", "--stdin", "-r", "-p", "--root", "--unified=0", "--full-index"),
    *("--no-renames", "--no-ext-diff", "--no-textconv", "--no-color"),
    *("--src-prefix=a/", "--dst-prefix=b/"),
)
_OID_LINE = re.compile(rb"(?m)^([0-9a-f]{40}(?:[0-9a-f]{24})?)\n")


class TrunkReader:
    """Reads the trunk of a repository, here and as it was fetched. ``merge_env`` is the
    environment in which git reads snapshots."""

    def __init__(
        self,
        git: Git,
        repository: Repository,
        env: Mapping[str, str],
        merge_env: Mapping[str, str],
    ) -> None:
        self.git = git
        self.env = merge_env
        trees = worktrees.worktrees(repository, env)
        main_branch = next((tree.branch for tree in trees if tree.main), "")
        base = find_base(repository, main_branch)
        self.name = base.name
        refs = (
            f"refs/remotes/{remote}/{base.name}"
            for remote in repositories.remote_branches(repository, base.name)
        )
        fetched = (repositories.resolve(repository, ref) for ref in refs)
        self.tips = list(dict.fromkeys(filter(None, (base.commit, *fetched))))

    def newest_in(self, commit: str) -> str:
        """The newest commit of the trunk itself, not of a branch that was merged into
        it, that ``commit`` has; empty if they share none."""
        newest = ""
        for tip in self.tips:
            shared = self._shared(tip, commit)
            if shared and (not newest or self.is_ancestor(newest, shared)):
                newest = shared
        return newest

    def _shared(self, trunk: str, commit: str) -> str:
        try:
            common = self.git.line("merge-base", trunk, commit, env=self.env)
            span = f"{common}..{trunk}"
            words = ("rev-list", "--first-parent", "--parents", span)
            output = self.git.run(*words, env=self.env).decode()
        except GitError:
            return ""
        since = output.split("\n")[:-1]
        if not since:
            return common
        _, *parents = since[-1].split()
        return parents[0] if parents else ""

    def before_landing(self, branch: str, head: str) -> str:
        """The commit of the trunk before it was moved along a branch that ends with
        ``head``, from git's log of the trunk on this machine. Empty if that does not
        say."""
        for old, new, message in self._updates() if branch else ():
            is_landing = branch in _BETWEEN_NAMES.split(message)
            if is_landing and self._has_landed(head, old, new):
                return old
        return ""

    def before_first_own(self, head: str, own: Sequence[OwnCommit]) -> str:
        """The commit before the first of those that lead to ``head`` that is one of a
        branch's ``own`` earlier commits in another form; empty if there is none. Raises
        GitError."""
        if not own:
            return ""
        span = (head, f"^{own[0].commit}^@")
        chain = own_commits(self.git, span, self.env, first_parent=True)
        first = first_own(chain or (), own)
        return self._parent(first.commit) if first is not None else ""

    def _has_landed(self, head: str, old: str, new: str) -> bool:
        """Return whether an update of the trunk from ``old`` to ``new`` brought the
        branch that ends with ``head`` into it, by moving it along the branch."""
        return (
            old != head and self.is_ancestor(old, head) and self.is_ancestor(head, new)
        )

    def _updates(self) -> Iterator[tuple[str, str, str]]:
        """The latest updates of the trunk on this machine, from git's log of it: the
        commit before and after, and the reason."""
        # `rev-list` does not print the reasons.
        words = ("log", "--walk-reflogs", f"--max-count={_MAX_UPDATES}")
        try:
            options = ("--no-show-signature", "--format=%H%x00%gs")
            ref = f"refs/heads/{self.name}"
            output = self.git.run(*words, *options, ref, "--")
        except GitError:
            return
        lines = output.decode(errors="replace").split("\n")[:-1]
        rows = [line.partition("\0") for line in lines]
        for (new, _, message), (old, _, _) in pairwise(rows):
            yield old, new, message

    def _parent(self, commit: str) -> str:
        try:
            words = ("rev-parse", "--verify", "--quiet", f"{commit}^1")
            return self.git.line(*words, env=self.env)
        except GitError:
            return ""

    def is_ancestor(self, first: str, second: str) -> bool:
        """Return whether ``second`` has the commit ``first``."""
        try:
            self.git.run("merge-base", "--is-ancestor", first, second, env=self.env)
        except GitError:
            return False
        return True


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
