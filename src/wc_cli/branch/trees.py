"""Reading trees of commits through git: what differs, and the files themselves."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from wc_cli.branch.git import Git, GitError
from wc_core.layout import ATTRIBUTES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_MAX_PATHS = 400
_FILE = "100644"
_FOLDER = "040000"
_NONE = "000000"
# What has threads in it, ours or an older tool's.
_HOMES = ("graph", "threads")


class TreeItem(NamedTuple):
    """What a tree has at a path: its mode and its object."""

    mode: str
    blob: str

    @property
    def is_file(self) -> bool:
        """Whether it is a file, not a link, a submodule or a folder."""
        return self.mode.startswith("100")


class Sides(NamedTuple):
    """What three trees have at one path; ``None`` for nothing."""

    base: TreeItem | None
    ours: TreeItem | None
    theirs: TreeItem | None

    @property
    def are_both_files(self) -> bool:
        """Whether both have a file that they changed, be it in mode alone."""
        base, ours, theirs = self
        if ours is None or theirs is None:
            return False
        changed = ours != theirs and base not in (ours, theirs)
        return changed and ours.is_file and theirs.is_file

    @property
    def changed(self) -> TreeItem | None:
        """What was changed, where nothing can be merged: of two changes
        theirs, unless it was to delete what we changed."""
        base, ours, theirs = self
        if theirs == base or (theirs is None and ours != base):
            return ours
        return theirs

    @property
    def file_mode(self) -> str:
        """The mode of a file made of both."""
        modes = (one.mode if one and one.is_file else "" for one in self)
        base, ours, theirs = modes
        return (ours if theirs in (base, "") else theirs) or theirs or _FILE


def differences(
    git: Git, one: str, other: str
) -> dict[str, tuple[TreeItem | None, TreeItem | None]]:
    """The paths at which two commits have something else, and what."""
    words = ("-r", "-z", "--no-abbrev", "--no-renames", "--ignore-submodules=none")
    out = git.run("diff-tree", *words, one, other, "--")
    found: dict[str, tuple[TreeItem | None, TreeItem | None]] = {}
    parts = out.split(b"\0")
    for info, path in zip(parts[::2], parts[1::2], strict=False):
        old, new, old_blob, new_blob, _ = info.decode().removeprefix(":").split()
        items = [
            None if mode == _NONE else TreeItem(mode, blob)
            for mode, blob in ((old, old_blob), (new, new_blob))
        ]
        found[os.fsdecode(path)] = (items[0], items[1])
    return found


def items(git: Git, commit: str, paths: Iterable[str]) -> dict[str, TreeItem]:
    """What a commit has at those of ``paths`` where it has anything."""
    wanted = set(paths)
    if not wanted:
        return {}
    # A command line has room for so many; all of the tree is not much more.
    named = [] if len(wanted) > _MAX_PATHS else sorted(wanted)
    out = git.run("ls-tree", "-r", "-z", "--full-tree", commit, "--", *named)
    found: dict[str, TreeItem] = {}
    for record in out.split(b"\0"):
        info, _, name = record.partition(b"\t")
        path = os.fsdecode(name)
        if path in wanted:
            mode, _, blob = info.decode().split()
            found[path] = TreeItem(mode, blob)
        for folder in folders_of(path):
            if folder in wanted:
                found[folder] = TreeItem(_FOLDER, "")
    return found


def folders_of(path: str) -> Iterator[str]:
    """The folders that a path of a tree is in, the nearest first."""
    while "/" in path:
        path = path.rpartition("/")[0]
        yield path


def blobs(git: Git, ids: Iterable[str]) -> dict[str, bytes]:
    """The bytes of blobs, all read by one git. Raises GitError for one that
    is not there."""
    wanted = sorted(set(ids))
    if not wanted:
        return {}
    feed = "".join(f"{one}\n" for one in wanted).encode()
    out = git.run("cat-file", "--batch", feed=feed)
    found = {}
    at = 0
    for one in wanted:
        end = out.index(b"\n", at)
        head = out[at:end].decode().split()
        if head[1] != "blob":
            raise GitError(f"the file {one} of the branch cannot be read")
        start, size = end + 1, int(head[2])
        found[one] = out[start : start + size]
        at = start + size + 1
    return found


def merge_base(git: Git, ours: str, theirs: str) -> str | None:
    """The commit that two have in common, the first of several; ``None`` where
    their histories are unrelated."""
    for line in git.line("rev-parse", f"{ours}...{theirs}").split():
        if line.startswith("^"):
            return line[1:]
    return None


def is_store(git: Git, commit: str) -> bool:
    """Whether a commit's tree is a store's: the branch of a remote may hold
    anything."""
    out = git.run("ls-tree", "-z", "--full-tree", commit)
    found: dict[str, TreeItem] = {}
    for record in out.split(b"\0"):
        info, _, name = record.partition(b"\t")
        if name:
            mode, _, blob = info.decode().split()
            found[os.fsdecode(name)] = TreeItem(mode, blob)
    if any(found.get(name, TreeItem("", "")).mode == _FOLDER for name in _HOMES):
        return True
    shared = found.get(".gitattributes")
    if shared is None or not shared.is_file:
        return False
    data = blobs(git, [shared.blob])[shared.blob]
    return ATTRIBUTES.encode() in data.split(b"\n")
