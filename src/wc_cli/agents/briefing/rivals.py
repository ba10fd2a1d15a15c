"""The claims of others on the files of one worktree, and the commits that were made
in it, from git's log of HEAD."""

from __future__ import annotations

import os

from wc_cli.edits.claims.registry import Registry
from wc_cli.ledger.branch.git import Git
from wc_core.base.errors import InvalidInputError
from wc_core.base.values import NamedTuple
from wc_core.edits.claims import ids
from wc_core.edits.claims.record import WRITE
from wc_core.ledger.git import config
from wc_core.ledger.git import repository as repositories

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from wc_core.base.layout import Layout
    from wc_core.edits.claims.record import Claim
    from wc_core.ledger.git.repository import Repository
    from wc_core.people.identity.viewer import Viewer

# For more claims, git lists all changes of the worktree.
_MAX_PATHS = 200
_STATUS = (
    *("status", "--porcelain=v2", "-z"),
    *("--untracked-files=all", "--no-renames"),
)
_COMMITTED = ("diff-tree", "-r", "-z", "--no-renames", "--name-only")
_WORDS_BEFORE = {b"1": 8, b"u": 10, b"?": 1}
_GONE = "gone"


class Rival(NamedTuple):
    """A claim of another participant, and the path that it concerns, relative to the
    top of the worktree."""

    claim: Claim
    path: str

    @property
    def key(self) -> str:
        """A key for this claim on this path; renewing the claim doesn't change it."""
        return f"{self.claim.holder}\n{self.claim.set}\n{self.path}"

    @property
    def covers_file(self) -> bool:
        """Whether all of the file is claimed, rather than a symbol in it."""
        return not self.claim.target.symbol


class Rivals:
    """The claims of others on writing, in the repository of a worktree."""

    def __init__(
        self,
        repository: Repository,
        layout: Layout,
        viewer: Viewer,
        env: Mapping[str, str],
    ) -> None:
        self.repository = repository
        self.env = env
        book = Registry(repository, layout, env).read()
        self.claims = [
            claim
            for claim in book.claims
            if claim.mode == WRITE
            and not viewer.is_me(claim.holder)
            and book.binds(claim)
        ]

    def on(self, paths: Iterable[str]) -> list[Rival]:
        """The claims on absolute paths, in any worktree of the repository; paths in
        other repositories are left out."""
        return [rival for path in paths for rival in self._on(path)]

    def _on(self, path: str) -> Iterator[Rival]:
        repository = self._repository_of(path)
        if repository is None:
            return
        case = config.get("core.ignorecase", repository, self.env)
        try:
            target = ids.canonical(
                path, repository.top, repository.top, ignore_case=case == "true"
            )
        except InvalidInputError:
            return
        for claim in self.claims:
            if claim.target.overlaps(target):
                yield Rival(claim, str(target))

    def _repository_of(self, path: str) -> Repository | None:
        """The worktree that contains a file, or will."""
        folder = path
        while not os.path.isdir(folder):
            folder = os.path.dirname(folder)
        repository = repositories.find(folder)
        if repository is None or repository.common != self.repository.common:
            return None
        return repository if repository.top else None

    def changed_files(self) -> dict[str, dict[str, str]]:
        """The changed files of the current worktree in each claim, by the claim's id:
        the path, and a text that changes whenever the file does. Raises GitError."""
        if not self.claims or not self.repository.top:
            return {}
        targets = {claim.id: claim.target for claim in self.claims}
        paths = sorted({target.path for target in targets.values()})
        words = [f":(top,literal){path}" for path in paths if path != ids.TOP]
        if len(words) < len(paths) or len(paths) > _MAX_PATHS:
            words = []
        output = Git(self.repository.top, self.env).run(*_STATUS, "--", *words)
        stamps = {path: self._stamp(path) for path in _changed_paths(output)}
        return {
            claim_id: {
                path: stamp for path, stamp in stamps.items() if _covers(target, path)
            }
            for claim_id, target in targets.items()
        }

    def committed_files(self, length_before: int) -> set[str]:
        """The files in the commits that were made in the current worktree since its log
        of HEAD had that length. Raises GitError."""
        git = Git(self.repository.top, self.env)
        return {
            os.fsdecode(path)
            for commit in _commits_after(self.repository.gitdir, length_before)
            for path in git.run(*_COMMITTED, *commit).split(b"\0")
            if path
        }

    def log_length(self) -> int:
        """The length of the current worktree's log of HEAD; 0 if there is none."""
        try:
            return os.path.getsize(f"{self.repository.gitdir}/logs/HEAD")
        except OSError:
            return 0

    def _stamp(self, path: str) -> str:
        try:
            info = os.lstat(f"{self.repository.top}/{path}")
        except OSError:
            return _GONE
        return f"{info.st_mtime_ns}:{info.st_size}:{info.st_ino}"

    def newly_changed(
        self,
        before: Mapping[str, Mapping[str, str]],
        now: Mapping[str, dict[str, str]],
        committed: Iterable[str] = (),
    ) -> list[Rival]:
        """The changes between two results of `changed_files`, in claims that are in
        both, and the ``committed`` files that had not changed before."""
        watched = [claim for claim in self.claims if claim.id in before]
        changed = [
            Rival(claim, path)
            for claim in watched
            for path, stamp in now.get(claim.id, {}).items()
            if before[claim.id].get(path) != stamp
        ]
        return changed + [
            Rival(claim, path)
            for claim in watched
            for path in sorted(committed)
            if _covers(claim.target, path)
            and path not in {*before[claim.id], *now.get(claim.id, ())}
        ]


def _covers(target: ids.ClaimId, path: str) -> bool:
    return ids.ClaimId(target.path).covers(ids.ClaimId(path))


def _changed_paths(status: bytes) -> Iterator[str]:
    for line in status.split(b"\0"):
        kind = line[:1]
        if kind in _WORDS_BEFORE:
            yield os.fsdecode(line.split(b" ", _WORDS_BEFORE[kind])[-1])


_MAX_BYTES = 1 << 16
_MAX_COMMITS = 20
_MERGE = b"commit (merge)"


def _commits_after(gitdir: str, length_before: int) -> list[tuple[str, str]]:
    """The latest commits since the log of HEAD had that length, each after where HEAD
    was before. Other moves of HEAD, such as those of a merge, bring changes that others
    have made."""
    try:
        with open(f"{gitdir}/logs/HEAD", "rb") as file:
            file.seek(length_before)
            lines = file.read(_MAX_BYTES).splitlines()
    except OSError:
        return []
    return list(_commits(lines))[-_MAX_COMMITS:]


def _commits(lines: list[bytes]) -> Iterator[tuple[str, str]]:
    for line in lines:
        heading, _, message = line.partition(b"\t")
        ids = heading.split(b" ", 2)[:2]
        if message.startswith(b"commit") and not message.startswith(_MERGE):
            before, commit_id = (value.decode("ascii", "replace") for value in ids)
            if before.isalnum() and before.strip("0") and commit_id.isalnum():
                yield before, commit_id
