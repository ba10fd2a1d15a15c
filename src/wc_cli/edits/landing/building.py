"""Builds the commit that puts a branch on another one: a merge, the branch's commits on
top of it (rebase), or one commit (squash).

Everything is computed in git's objects by ``git merge-tree``: no index, no work tree.
Carriers and outboxes of `wc_core.ledger.carry` are left out.
"""

from __future__ import annotations

import os
import tempfile

from wc_cli.edits.radar import merges
from wc_cli.edits.radar.objects import alternates
from wc_cli.ledger.branch.git import Git, GitError
from wc_core.base.lean import contextlib
from wc_core.base.text import one_line
from wc_core.base.values import NamedTuple
from wc_core.ledger.carry import carriers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from wc_cli.edits.radar.merges import MergeResult
    from wc_core.ledger.git.repository import Repository

MERGE, REBASE, SQUASH = "merge", "rebase", "squash"
METHODS = (MERGE, REBASE, SQUASH)
_ATTRIBUTES = ".gitattributes"
_MAX_SUBJECTS = 50
_SUBJECT = 200
# A field for each line, then the message; a zero byte ends a commit.
_FORMAT = "--format=%H%n%P%n%T%n%an%n%ae%n%ad%n%B"
_FIELDS = 7
# The lines of a failed signature that do not say why.
_FOR_GIT = ("[GNUPG:]", "error: gpg failed to sign", "fatal: failed to write commit")
# Why a file that a merge in the branch has changed does not land by a rebase.
_LOST = "a merge in the branch changed it, and a rebase leaves merges out"


class SigningError(GitError):
    """A commit could not be signed, although git is configured to."""


class BranchCommit(NamedTuple):
    """A commit of a branch. ``when`` is its author's time, in git's raw format."""

    id: str
    parents: tuple[str, ...]
    tree: str
    author: str
    email: str
    when: str
    message: str

    @property
    def subject(self) -> str:
        """The first line of its message."""
        return one_line(self.message.partition("\n")[0], _SUBJECT)

    @property
    def is_carrier(self) -> bool:
        """Whether it carries entries, and nothing else."""
        return carriers.is_carrier(os.fsencode(self.message))


class LandingText(NamedTuple):
    """The words of a landing: the thread's name and title, the branch, and who approved
    it (empty: nobody)."""

    topic: str
    title: str
    branch: str
    approved_by: str = ""

    @property
    def trailers(self) -> tuple[str, ...]:
        """The trailers of each commit that it makes."""
        topic = f"Watercooler-Topic: {one_line(self.topic)}"
        if not self.approved_by:
            return (topic,)
        return topic, f"Reviewed-by: {one_line(self.approved_by)}"


class BuiltLanding(NamedTuple):
    """What putting a branch on another one gives.

    ``commit`` is the commit that the other branch would point to: its own if there is
    nothing to land; empty if it fails. ``commit_count`` is how many commits land.
    ``conflicts`` are the paths that conflict, with git's word for how, ``tree`` the
    files with the conflicts marked, ``picked`` the commit of the branch that does not
    apply (only for a rebase).
    """

    commit: str = ""
    commit_count: int = 0
    conflicts: tuple[tuple[str, str], ...] = ()
    marked: frozenset[str] = frozenset()
    tree: str = ""
    picked: str = ""


class MergePlace:
    """Where ``git merge-tree`` writes: the repository, or a temporary folder beside
    it. ``merge_env`` are the variables that say so."""

    def __init__(self, merge_env: Mapping[str, str]) -> None:
        self.merge_env: Mapping[str, str] = merge_env


@contextlib.contextmanager
def trial_objects(repository: Repository) -> Iterator[MergePlace]:
    """A place for objects that nobody needs afterwards."""
    with tempfile.TemporaryDirectory(prefix="wc-land-") as folder:
        yield MergePlace(
            {
                "GIT_OBJECT_DIRECTORY": folder,
                "GIT_ALTERNATE_OBJECT_DIRECTORIES": alternates(
                    f"{repository.common}/objects"
                ),
            }
        )


class LandingBuilder:
    """Builds landings in a repository, onto ``base``. Its attributes decide how files
    merge, as they do where it is checked out.

    Use `builder_on`, which makes and removes ``folder``. ``objects`` says where new
    objects go. ``sign``: as git is configured to.
    """

    def __init__(
        self, repository: Repository, git: Git, objects: MergePlace, *, sign: bool
    ) -> None:
        self.repository = repository
        self.git = git
        self.objects = objects
        self._sign = sign

    def build(
        self, base: str, tip: str, method: str, text: LandingText
    ) -> BuiltLanding:
        """Build the commit that puts the branch at ``tip`` on ``base``. Raises
        GitError."""
        commits = self.commits(base, tip)
        if not commits:
            return BuiltLanding(base)
        tip, commits = self._without_carriers(tip, commits)
        if not commits:
            return BuiltLanding(base)
        if method == REBASE:
            return self._rebased(base, tip, commits, text)
        result = self._merged(base, tip)
        if result.conflicts:
            return _conflicting(result)
        tree = result.tree
        if tree == self._tree(base):
            return BuiltLanding(base)
        if method == SQUASH:
            commit = self._squashed(base, tree, commits, text)
        else:
            message = f"Merge {text.branch}: {one_line(text.title, _SUBJECT)}\n"
            commit = self._commit(tree, (base, tip), message, text)
        return BuiltLanding(commit, len(commits))

    def is_plain(self, base: str, tips: Iterable[str]) -> bool:
        """Return whether no branch with one of these tips changes attributes or has an
        outbox, as nearly all: then `try_merge` will do. Raises GitError."""
        words = ("rev-list", "--max-count=1", "--full-history", "--stdin", "--")
        paths = (carriers.OUTBOX, f":(glob)**/{_ATTRIBUTES}")
        feed = "\n".join((f"^{base}", *tips, "")).encode()
        return not self._git(*words, *paths, feed=feed)

    def try_merge(self, base: str, tip: str, method: str) -> BuiltLanding:
        """Merge or squash a branch that has no outbox, to see what comes of it: the
        commit has the right files and parents, and none of the words. Raises
        GitError."""
        result = self._merged(base, tip)
        if result.conflicts:
            return _conflicting(result)
        parents = ("-p", base) if method == SQUASH else ("-p", base, "-p", tip)
        words = ("commit-tree", result.tree, *parents)
        return BuiltLanding(self._git(*words, feed=b"wc\n").strip(), 1)

    def commits(self, base: str, tip: str) -> list[BranchCommit]:
        """Return the commits of ``tip`` that ``base`` lacks, the oldest first. Raises
        GitError."""
        words = ("log", "-z", "--reverse", "--topo-order", "--date=raw", _FORMAT)
        settings = (
            "-c",
            "log.showSignature=false",
            "-c",
            "i18n.logOutputEncoding=UTF-8",
        )
        output = self._git(*settings, *words, f"{base}..{tip}")
        return [_parsed(record) for record in output.split("\0") if record]

    # --- the three ways -----------------------------------------------------------

    def _merged(self, base: str, tip: str) -> MergeResult:
        """Merge two commits. Raises GitError."""
        (result,) = merges.merge_all(self.git, self.objects, [(base, tip)])
        if result.problem or not result.tree:
            raise GitError(result.problem or "git merge-tree gave no result")
        return result

    def _squashed(
        self,
        base: str,
        tree: str,
        commits: Sequence[BranchCommit],
        text: LandingText,
    ) -> str:
        """Make one commit of a branch's, by the author of the last one."""
        own = [item for item in commits if len(item.parents) < 2]  # noqa: PLR2004
        latest = own[-1] if own else commits[-1]
        people = dict.fromkeys((item.author, item.email) for item in own)
        people.pop((latest.author, latest.email), None)
        lines = [f"{one_line(text.title, _SUBJECT)} ({text.topic})", ""]
        lines += [f"* {item.subject}" for item in own[:_MAX_SUBJECTS]]
        if len(own) > _MAX_SUBJECTS:
            lines.append(f"* and {len(own) - _MAX_SUBJECTS} more commits")
        trailers = [f"Co-authored-by: {name} <{email}>" for name, email in people]
        message = "".join(f"{line}\n" for line in lines)
        return self._commit(tree, (base,), message, text, by=latest, also=trailers)

    def _rebased(
        self,
        base: str,
        tip: str,
        commits: Sequence[BranchCommit],
        text: LandingText,
    ) -> BuiltLanding:
        """Apply each commit of a branch to ``base``, as ``git rebase`` does: without
        merges, and without what ``base`` has already. A commit that was empty from the
        start stays; one that becomes empty does not."""
        whole = ""
        if any(len(item.parents) > 1 for item in commits):
            result = self._merged(base, tip)
            if result.conflicts:
                return _conflicting(result)
            whole = result.tree
        words = ("rev-list", "--cherry-pick", "--right-only", "--no-merges")
        picks = set(self._git(*words, f"{base}...{tip}").split())
        onto, tree, count = base, self._tree(base), 0
        trees = {item.id: item.tree for item in commits}
        for item in commits:
            if len(item.parents) != 1:
                continue
            (parent,) = item.parents
            before = trees.get(parent) or self._tree(parent)
            if item.tree != before:
                if item.id not in picks:
                    continue
                # Its parent becomes the merge base of the two.
                side = self._git("commit-tree", tree, "-p", parent, feed=b"wc\n")
                result = self._merged(side.strip(), item.id)
                if result.conflicts:
                    return _conflicting(result)._replace(picked=item.id)
                if result.tree == tree:
                    continue
                tree = result.tree
            onto = self._commit(tree, (onto,), item.message, text, by=item)
            count += 1
        if whole and tree != whole:
            lost = self._git("diff-tree", "-r", "-z", "--name-only", tree, whole)
            paths = [path for path in lost.split("\0") if path]
            return BuiltLanding("", 0, tuple((path, _LOST) for path in paths))
        return BuiltLanding(onto, count)

    # --- commits ------------------------------------------------------------------

    def _commit(
        self,
        tree: str,
        parents: Sequence[str],
        message: str,
        text: LandingText,
        *,
        by: BranchCommit | None = None,
        also: Sequence[str] = (),
    ) -> str:
        """Make a commit, with our trailers. Raises GitError, and SigningError if it
        cannot be signed."""
        trailers = [f"--trailer={line}" for line in (*also, *text.trailers)]
        # Whatever the settings of this person are.
        words = ["-c", "trailer.separators=:", "interpret-trailers"]
        words += ["--no-divider", "--where=end"]
        words += ["--if-exists=addIfDifferent", "--if-missing=add", *trailers]
        written = self.git.run(*words, feed=os.fsencode(_ended(message)))
        return self._commit_tree(tree, parents, written, by)

    def _commit_tree(
        self,
        tree: str,
        parents: Sequence[str],
        message: bytes,
        by: BranchCommit | None,
    ) -> str:
        author = {}
        if by is not None:
            author["GIT_AUTHOR_NAME"] = by.author
            author["GIT_AUTHOR_EMAIL"] = by.email
            author["GIT_AUTHOR_DATE"] = f"@{by.when}"
        words = ["-c", "i18n.commitEncoding=UTF-8", "commit-tree", tree]
        words += ["-S"] if self._sign else []
        for parent in parents:
            words += ["-p", parent]
        env = {**self.objects.merge_env, **author}
        try:
            return self.git.line(*words, feed=message, env=env)
        except GitError as error:
            if not self._sign:
                raise
            reason = signing_reason(error)
            raise SigningError(reason, error.out, error.err) from error

    def _tree(self, commit: str) -> str:
        return self._git("rev-parse", f"{commit}^{{tree}}").strip()

    def _git(self, *words: str, feed: bytes = b"") -> str:
        env = self.objects.merge_env
        return self.git.run(*words, feed=feed, env=env).decode(errors="surrogateescape")

    # --- what does not land -------------------------------------------------------

    def _without_carriers(
        self, tip: str, commits: list[BranchCommit]
    ) -> tuple[str, list[BranchCommit]]:
        """Return the branch without carriers and outboxes: its tip, and its commits."""
        oldest, newest = commits[0], commits[-1]
        words = ("rev-list", "--max-count=1", newest.id, f"^{oldest.id}^@")
        has_outbox = bool(self._git(*words, "--", carriers.OUTBOX).strip())
        if not has_outbox and not any(item.is_carrier for item in commits):
            return tip, commits
        rewritten: dict[str, str] = {}
        kept: dict[str, BranchCommit] = {}
        trees = {item.id: item.tree for item in commits}
        for item in commits:
            parents = tuple(rewritten.get(parent, parent) for parent in item.parents)
            tree = self._without_outbox(item.tree) if has_outbox else item.tree
            if len(parents) == 1:
                for parent in {*parents, *item.parents} - trees.keys():
                    trees[parent] = self._tree(parent)
                is_empty = item.tree == trees[item.parents[0]]
                # It changes nothing else; an empty commit of the author's stays.
                if tree == trees[parents[0]] and (item.is_carrier or not is_empty):
                    rewritten[item.id] = parents[0]
                    continue
            if (parents, tree) == (item.parents, item.tree):
                new = item
            else:
                message = os.fsencode(item.message)
                commit = self._commit_tree(tree, parents, message, item)
                new = item._replace(id=commit, parents=parents, tree=tree)
            rewritten[item.id], trees[new.id] = new.id, tree
            kept[new.id] = new
        return rewritten[tip], list(kept.values())

    def _without_outbox(self, tree: str) -> str:
        """Return a tree without its outboxes."""
        folder, _, name = carriers.OUTBOX.partition("/")
        lines = self._lines_of(tree)
        for position, line in enumerate(lines):
            head, _, path = line.partition("\t")
            if path != folder or " tree " not in head:
                continue
            inner = self._lines_of(head.split(" ")[2])
            remaining = [item for item in inner if item.partition("\t")[2] != name]
            if len(remaining) == len(inner):
                return tree
            lines[position : position + 1] = (
                [f"040000 tree {self._made_tree(remaining)}\t{folder}"]
                if remaining
                else []
            )
            return self._made_tree(lines)
        return tree

    def _lines_of(self, tree: str) -> list[str]:
        return [line for line in self._git("ls-tree", "-z", tree).split("\0") if line]

    def _made_tree(self, lines: Sequence[str]) -> str:
        feed = "".join(f"{line}\0" for line in lines)
        data = feed.encode(errors="surrogateescape")
        return self._git("mktree", "-z", "--missing", feed=data).strip()


@contextlib.contextmanager
def builder_on(
    repository: Repository,
    base: str,
    env: Mapping[str, str],
    objects: MergePlace,
    *,
    sign: bool,
) -> Iterator[LandingBuilder]:
    """A builder of landings onto ``base``, during a block. Raises GitError."""
    with tempfile.TemporaryDirectory(prefix="wc-land-") as folder:
        git = Git.for_files(folder, env)
        # git reads attributes from the folder that it runs in, and a merge driver
        # leaves its files there.
        git.prefix = ("-C", folder, "--git-dir", repository.common)
        git.env = {**git.env, "GIT_WORK_TREE": folder}
        _write_attributes(git, base, folder, objects)
        yield LandingBuilder(repository, git, objects, sign=sign)


def _write_attributes(git: Git, base: str, folder: str, objects: MergePlace) -> None:
    """Write the .gitattributes of a commit into a folder."""
    env = objects.merge_env
    listed = git.run("ls-tree", "-r", "-z", base, env=env)
    for line in os.fsdecode(listed).split("\0"):
        head, _, path = line.partition("\t")
        *folders, name = path.split("/")
        # A hostile tree may have such names, with which git writes no file either.
        is_plain = head.startswith("100") and not {"", ".", ".."}.intersection(folders)
        if name == _ATTRIBUTES and is_plain:
            data = git.run("cat-file", "blob", head.split(" ")[2], env=env)
            target = f"{folder}/{path}"
            os.makedirs(os.path.dirname(target), exist_ok=True)
            with open(target, "wb") as file:
                file.write(data)


def _conflicting(result: MergeResult) -> BuiltLanding:
    return BuiltLanding("", 0, result.conflicts, marked=result.marked, tree=result.tree)


def _parsed(record: str) -> BranchCommit:
    commit, parents, tree, author, email, when, *message = record.split(
        "\n", _FIELDS - 1
    )
    return BranchCommit(
        commit, tuple(parents.split()), tree, author, email, when, "".join(message)
    )


def signing_reason(error: GitError) -> str:
    """Return why a commit could not be signed: the last line of the program that
    signs, which git passes on since 2.41, otherwise git's own line."""
    text = error.err.decode(errors="replace")
    lines = [line.strip() for line in text.splitlines()]
    said = [line for line in lines if line and not line.startswith(_FOR_GIT)]
    reason = said[-1] if said else str(error)
    return reason.removeprefix("fatal: ").removeprefix("error: ").rstrip(":.?")


def _ended(message: str) -> str:
    return message if message.endswith("\n") else f"{message}\n"
