"""Reads the trees of commits: the differences between them, and their files."""

from __future__ import annotations

import os

from wc_cli.ledger.branch.git import Git, GitError
from wc_cli.ledger.branch.treepaths import is_local, is_safe
from wc_core.base.layout import ATTRIBUTES, OLDER_PAGES
from wc_core.base.lean import re
from wc_core.base.values import NamedTuple
from wc_core.ledger.threads import longlines
from wc_core.ledger.threads.longlines import MAX_LINE_BYTES, of_bytes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from wc_core.ledger.threads.longlines import LogText

# Larger files that are not logs are never read.
MAX_FILE_BYTES = 64 * 1024 * 1024
_MAX_PATHS = 400
_FILE = "100644"
_FOLDER = "040000"
_LINK = "120000"
_NO_MODE = "000000"
# An entry of the index with the time of its file, as `git ls-files --debug` prints it.
_INDEXED = re.compile(
    rb"(?:\A|\n)\d{6} ([0-9a-f]+) 0\t([^\0]+)\0 *ctime: [^\n]+\n *mtime: [1-9]"
)
# A path that every file system takes as it is: most of them, quickly.
_USUAL = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*(?:/[A-Za-z0-9_][A-Za-z0-9_.-]*)*")
# The folders that hold threads, of wc or of an older tool.
_THREAD_FOLDERS = ("graph", "threads")


class TreeItem(NamedTuple):
    """An entry of a tree: its mode and its object."""

    mode: str
    blob: str

    @property
    def is_file(self) -> bool:
        """Whether it is a file, as opposed to a link, a submodule or a folder."""
        return self.mode.startswith("100")


class Sides(NamedTuple):
    """The entries of a merge's three trees at one path; ``None`` for a missing one."""

    base: TreeItem | None
    ours: TreeItem | None
    theirs: TreeItem | None

    @property
    def are_both_files(self) -> bool:
        """Whether both sides have a file and changed it, even if only its mode."""
        base, ours, theirs = self
        if ours is None or theirs is None:
            return False
        changed = ours != theirs and base not in (ours, theirs)
        return changed and ours.is_file and theirs.is_file

    @property
    def changed_item(self) -> TreeItem | None:
        """The item that changed, if contents cannot be merged. If both changed: theirs,
        unless they deleted what we changed."""
        base, ours, theirs = self
        if theirs == base or (theirs is None and ours != base):
            return ours
        return theirs

    @property
    def file_mode(self) -> str:
        """The mode of the file merged from both sides."""
        modes = (item.mode if item and item.is_file else "" for item in self)
        base, ours, theirs = modes
        return (ours if theirs in (base, "") else theirs) or theirs or _FILE


def differences(
    git: Git, old: str, new: str
) -> dict[str, tuple[TreeItem | None, TreeItem | None]]:
    """The paths at which two commits differ, with the item of each."""
    words = ("-r", "-z", "--no-abbrev", "--no-renames", "--ignore-submodules=none")
    out = git.run("diff-tree", *words, old, new, "--")
    result: dict[str, tuple[TreeItem | None, TreeItem | None]] = {}
    parts = out.split(b"\0")
    for info, path in zip(parts[::2], parts[1::2], strict=False):
        old_mode, new_mode, old_blob, new_blob, _ = (
            info.decode().removeprefix(":").split()
        )
        old_item, new_item = (
            None if mode == _NO_MODE else TreeItem(mode, blob)
            for mode, blob in ((old_mode, old_blob), (new_mode, new_blob))
        )
        result[os.fsdecode(path)] = (old_item, new_item)
    return result


def items(git: Git, commit: str, paths: Iterable[str]) -> dict[str, TreeItem]:
    """The items of a commit at those of ``paths`` that exist in it."""
    requested = set(paths)
    if not requested:
        return {}
    # Command lines are limited in length; reading the whole tree costs little more.
    arguments = [] if len(requested) > _MAX_PATHS else sorted(requested)
    result: dict[str, TreeItem] = {}
    for path, item in _list_tree(git, "-r", "--full-tree", commit, "--", *arguments):
        if path in requested:
            result[path] = item
        for folder in folders_of(path):
            if folder in requested:
                result[folder] = TreeItem(_FOLDER, "")
    return result


def all_items(git: Git, commit: str) -> dict[str, TreeItem]:
    """The items of a commit by path, in the order of git's index."""
    return dict(_list_tree(git, "-r", "--full-tree", commit))


def unwritable(items: Mapping[str, TreeItem]) -> dict[str, str]:
    """Those of the ``items`` that are on the branch and never written to a store's
    folder, with the reason in words."""
    reasons = ((path, _why_unwritable(path, item)) for path, item in items.items())
    return {path: reason for path, reason in reasons if reason}


def _why_unwritable(path: str, item: TreeItem) -> str:
    if item.is_file and _USUAL.fullmatch(path):
        return ""
    if is_local(path):
        return "belongs to one machine only"
    if not is_safe(path):
        return "has a name that could lead out of the folder"
    if item.is_file:
        return ""
    return "is a symbolic link" if item.mode == _LINK else "is a submodule"


def _list_tree(git: Git, *words: str) -> Iterator[tuple[str, TreeItem]]:
    """The paths that git-ls-tree lists, with their items."""
    for record in git.run("ls-tree", "-z", *words).split(b"\0"):
        info, _, path = record.partition(b"\t")
        if path:
            mode, _, blob = info.decode().split()
            yield os.fsdecode(path), TreeItem(mode, blob)


def folders_of(path: str) -> Iterator[str]:
    """The folders that contain a path of a tree, the nearest first."""
    while "/" in path:
        path = path.rpartition("/")[0]
        yield path


def blobs(git: Git, ids: Iterable[str]) -> dict[str, bytes]:
    """The bytes of blobs, by id, read by a single git process. Raises GitError for a
    blob that does not exist."""
    blob_ids = sorted(set(ids))
    if not blob_ids:
        return {}
    feed = "".join(f"{blob_id}\n" for blob_id in blob_ids).encode()
    out = git.run("cat-file", "--batch", "--buffer", feed=feed)
    result = {}
    position = 0
    for blob_id in blob_ids:
        end = out.index(b"\n", position)
        head = out[position:end].decode().split()
        if head[1] != "blob":
            raise _unreadable(blob_id)
        start, size = end + 1, int(head[2])
        result[blob_id] = out[start : start + size]
        position = start + size + 1
    return result


def sizes(git: Git, ids: Iterable[str]) -> dict[str, int]:
    """The lengths of blobs, by id. Raises GitError for a blob that does not exist."""
    blob_ids = sorted(set(ids))
    if not blob_ids:
        return {}
    feed = "".join(f"{blob_id}\n" for blob_id in blob_ids).encode()
    rows = git.run("cat-file", "--batch-check", feed=feed).splitlines()
    result = {}
    for blob_id, row in zip(blob_ids, rows, strict=True):
        words = row.decode().split()
        if words[1] != "blob":
            raise _unreadable(blob_id)
        result[blob_id] = int(words[2])
    return result


def logs(git: Git, known_sizes: Mapping[str, int]) -> dict[str, LogText]:
    """The logs that are these blobs, by id. Those that may have a line that is too long
    are read in pieces."""
    small = [key for key, size in known_sizes.items() if size <= MAX_LINE_BYTES]
    texts = {key: of_bytes(data) for key, data in blobs(git, small).items()}
    return texts | {key: log(git, key) for key in known_sizes.keys() - texts.keys()}


def log(git: Git, blob: str) -> LogText:
    """The log that is this blob, read in pieces. Raises GitError."""
    return longlines.read(lambda: git.pieces("cat-file", "blob", blob))


def _unreadable(blob_id: str) -> GitError:
    return GitError(f"the file {blob_id} of the branch cannot be read")


def seen_on_disk(git: Git, paths: Iterable[str]) -> dict[str, str]:
    """The blobs of those of ``paths`` that git saw as files in the checkout, according
    to its index. An entry that came from a commit alone has no time."""
    words = ("ls-files", "-z", "--stage", "--debug", "--", *paths)
    records = map(re.Match.groups, _INDEXED.finditer(git.run(*words)))
    return {os.fsdecode(path): blob.decode() for blob, path in records}


def merge_base(git: Git, ours: str, theirs: str) -> str | None:
    """The merge base of two commits, the first of several; ``None`` if their histories
    are unrelated."""
    for line in git.line("rev-parse", f"{ours}...{theirs}").split():
        if line.startswith("^"):
            return line[1:]
    return None


def is_store(git: Git, commit: str) -> bool:
    """Return whether a commit's tree is that of a store: the branch of a remote may
    contain anything."""
    top = dict(_list_tree(git, "--full-tree", commit))
    if any(name in top and top[name].mode == _FOLDER for name in _THREAD_FOLDERS):
        return True
    if items(git, commit, [OLDER_PAGES]):
        return True
    attributes = top.get(".gitattributes")
    if attributes is None or not attributes.is_file:
        return False
    if sizes(git, [attributes.blob])[attributes.blob] > MAX_FILE_BYTES:
        return False
    data = blobs(git, [attributes.blob])[attributes.blob]
    return ATTRIBUTES.encode() in data.split(b"\n")
