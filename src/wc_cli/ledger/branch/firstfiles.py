"""Writes the files of the first checkout of the store's branch.

git would write whatever is committed: files that belong to one machine, links that
lead out of the folder, and what the user's filters and line ends make of a file. Here
the same paths are written as with every later change, see
`wc_cli.ledger.settle.applier`, and their bytes are those on the branch. No filter and
no hook runs.
"""

from __future__ import annotations

import errno
import hashlib
import os
import struct
import time

from wc_cli.ledger.branch import trees
from wc_cli.ledger.branch.git import GitError
from wc_cli.ledger.branch.treepaths import is_safe
from wc_cli.ledger.store import durable
from wc_core.base.layout import is_older_lock
from wc_core.ledger.git import config

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from wc_cli.ledger.branch.git import Git
    from wc_cli.ledger.branch.trees import TreeItem
    from wc_core.ledger.git.repository import Repository

# The files that are in memory at a time: their number, and their bytes.
_MAX_FILES, _MAX_BYTES = 4000, 16 << 20
# A push of a few bytes can have a larger file, which is not to fill the memory.
_LARGEST = 512 << 20
# A name that this file system cannot have, or not beside one that differs in its case.
_BAD_NAME = frozenset(
    {errno.EEXIST, errno.ENOTDIR, errno.ENAMETOOLONG, errno.EILSEQ, errno.EINVAL}
)
# Files outside of threads are committed as they are on disk, so a power cut must not
# empty them. A log that lost entries is never committed; the branch still has them.
_THREADS = ("graph/", "threads/")
_MAX_FLUSHED = 100
# git reads a file again, through the user's filters, if it is as new as the index.
_OLDER_NS = 2_000_000_000
_EXECUTABLE = "100755"
_HEADER = struct.Struct(">4sLL")
_PLAIN, _EXTENDED = 2, 3
# The times of an entry, and where and what its file is.
_STATE = struct.Struct(">10L")
_WORD = 0xFFFFFFFF
_SECOND_NS = 1_000_000_000
# The flags: the length of the name, at most; whether more flags follow; and of these,
# that git is to leave the file out of the folder, and its entry alone.
_MAX_NAME, _MORE, _SKIPPED = 0xFFF, 0x4000, 0x4000
_ALIGNED = 8
_SHA1_LENGTH = 40


def write_files(
    git: Git, checkout: Repository, commit: str, env: Mapping[str, str]
) -> dict[str, str]:
    """Write the files of a commit to the folder of an empty ``checkout``, then its
    index, as git would have left it.

    Returns the paths that are not written, with the reason in words. In the index they
    are marked, so that git leaves them as they are on the branch. Raises GitError,
    OSError.
    """
    items = trees.all_items(git, commit)
    unwritten = trees.unwritable(items)
    files = {
        path: item
        for path, item in items.items()
        if path not in unwritten and not is_older_lock(path)
    }
    _fetch_missing(git, checkout, env, commit, files)
    sizes = _sizes(git, files)
    for path in [path for path in files if sizes[path] > _LARGEST]:
        unwritten[path] = "is too large"
        del files[path]
    states: dict[str, os.stat_result] = {}
    writer = _Writer(checkout.top)
    for paths in _batches(files, sizes):
        blobs = trees.blobs(git, (files[path].blob for path in paths))
        for path in paths:
            try:
                states[path] = writer.write(path, files[path], blobs)
            except OSError as error:
                unwritten[path] = _bad_name(error)
    durable.flush_folder(checkout.top)
    # git refuses an unsafe path in a commit, but not in an index.
    for path in [path for path in unwritten if not is_safe(path)]:
        del items[path]
    write(checkout, commit, items, states)
    return unwritten


class _Writer:
    """Writes new files below ``root``. Nobody else writes there yet, so no path leads
    out of it."""

    def __init__(self, root: str) -> None:
        self.root = root
        self.folders = {""}
        self.unflushed = _MAX_FLUSHED
        self.time_ns = time.time_ns() - _OLDER_NS

    def write(
        self, path: str, item: TreeItem, blobs: Mapping[str, bytes]
    ) -> os.stat_result:
        """Write a file. Returns its state on disk. Raises OSError."""
        folder, full = path.rpartition("/")[0], f"{self.root}/{path}"
        if folder not in self.folders:
            self._make(folder)
        is_flushed = self.unflushed > 0 and not path.startswith(_THREADS)
        self.unflushed -= is_flushed
        mode = 0o777 if item.mode == _EXECUTABLE else 0o666
        return durable.write_new(
            full, blobs[item.blob], flush=is_flushed, mode=mode, time_ns=self.time_ns
        )

    def _make(self, folder: str) -> None:
        above = folder.rpartition("/")[0]
        if above not in self.folders:
            self._make(above)
        os.mkdir(f"{self.root}/{folder}")
        self.folders.add(folder)


def _bad_name(error: OSError) -> str:
    """Why a name cannot be written here, in words. Raises an ``error`` that another
    name would have as well."""
    if error.errno not in _BAD_NAME:
        raise error
    return f"cannot have its name here ({error.strerror})"


def _batches(paths: Iterable[str], sizes: Mapping[str, int]) -> Iterator[list[str]]:
    """The paths, in parts that fit into memory."""
    batch: list[str] = []
    total = 0
    for path in paths:
        size = sizes[path]
        if batch and (len(batch) == _MAX_FILES or total + size > _MAX_BYTES):
            yield batch
            batch, total = [], 0
        batch.append(path)
        total += size
    if batch:
        yield batch


def _sizes(git: Git, files: Mapping[str, TreeItem]) -> dict[str, int]:
    """The number of bytes of each file, by path."""
    feed = "".join(f"{item.blob}\n" for item in files.values()).encode()
    words = ("cat-file", "--buffer", "--batch-check=%(objectsize)")
    out = git.run(*words, feed=feed)
    try:
        return dict(zip(files, map(int, out.split(b"\n")), strict=False))
    except ValueError as error:
        raise GitError("git lacks files of the branch") from error


def _fetch_missing(
    git: Git,
    checkout: Repository,
    env: Mapping[str, str],
    commit: str,
    files: Mapping[str, TreeItem],
) -> None:
    """Fetch the blobs that a partial clone lacks, all at once as a checkout does: git
    would fetch each when it is read."""
    remote = _promisor(checkout, env)
    if not remote:
        return
    words = ("rev-list", "--objects", "--no-walk", "--missing=print", commit)
    listed = git.run(*words).decode(errors="replace").splitlines()
    missing = {line[1:] for line in listed if line.startswith("?")}
    missing &= {item.blob for item in files.values()}
    if not missing:
        return
    if env.get("GIT_NO_LAZY_FETCH"):
        raise GitError("its files were not fetched into this partial clone")
    git.run(
        *("-c", "fetch.negotiationAlgorithm=noop", "fetch", "--no-tags"),
        *("--no-write-fetch-head", "--recurse-submodules=no", "--filter=blob:none"),
        *("--no-auto-maintenance", "--stdin", "--", remote),
        feed="".join(f"{blob}\n" for blob in sorted(missing)).encode(),
    )


def _promisor(checkout: Repository, env: Mapping[str, str]) -> str:
    """The remote from which a partial clone fetches what it lacks; empty in another."""
    remotes = config.values("remote", "promisor", checkout, env)
    promisors = [name for name, texts in remotes.items() if config.is_true(texts[-1])]
    named = config.get("extensions.partialClone", checkout, env)
    return named or next(iter(promisors), "")


def write(
    checkout: Repository,
    commit: str,
    items: Mapping[str, TreeItem],
    states: Mapping[str, os.stat_result],
) -> None:
    """Write the index of a checkout that has none: with the ``items`` of its ``commit``
    in git's order, and the states of those that are on disk. Raises OSError."""
    version = _PLAIN if len(states) == len(items) else _EXTENDED
    parts = [_HEADER.pack(b"DIRC", version, len(items))]
    parts += _entries(items, states)
    data = b"".join(parts)
    # The hash of git's object format; nothing here relies on its security.
    algorithm = "sha1" if len(commit) == _SHA1_LENGTH else "sha256"
    digest = hashlib.new(algorithm, data, usedforsecurity=False).digest()
    path = f"{checkout.gitdir}/index"
    durable.write_new(f"{path}.wc", data + digest)
    os.replace(f"{path}.wc", path)


def _entries(
    items: Mapping[str, TreeItem], states: Mapping[str, os.stat_result]
) -> Iterator[bytes]:
    for path, item in items.items():
        name, state = os.fsencode(path), states.get(path)
        flags = struct.pack(">H", min(len(name), _MAX_NAME))
        if state is None:
            length = min(len(name), _MAX_NAME)
            flags = struct.pack(">HH", length | _MORE, _SKIPPED)
        entry = b"".join(
            (_STATE.pack(*_fields(item, state)), bytes.fromhex(item.blob), flags, name)
        )
        yield entry + bytes(_ALIGNED - len(entry) % _ALIGNED)


def _fields(item: TreeItem, state: os.stat_result | None) -> tuple[int, ...]:
    mode = _mode(item)
    if state is None:
        return (0, 0, 0, 0, 0, 0, mode, 0, 0, 0)
    return (
        *divmod(state.st_ctime_ns, _SECOND_NS),
        *divmod(state.st_mtime_ns, _SECOND_NS),
        *(state.st_dev & _WORD, state.st_ino & _WORD, mode),
        *(state.st_uid, state.st_gid, state.st_size & _WORD),
    )


def _mode(item: TreeItem) -> int:
    """The mode as the index has it: files of old commits may have others."""
    mode = int(item.mode, 8)
    if not item.is_file:
        return mode
    return 0o100755 if mode & 0o100 else 0o100644
