"""Packs the store's commits, so that they take up space in proportion to its logs.

A commit contains every changed file as a whole. git-fast-import(1) writes each commit
to its own pack and records the pack's name. From time to time these packs, and no
others, are joined into one that stores the versions of a log as deltas. If automatic
maintenance is off (``gc.auto = 0``), commits are stored the way git does it, and
nothing is packed.
"""

from __future__ import annotations

import os
import time

from wc_cli.ledger.branch.git import Git, GitError, GitKilledError
from wc_cli.ledger.store import durable
from wc_core.base.errors import StorageError
from wc_core.base.files import names_in, read_plain, size_of
from wc_core.base.lean import contextlib
from wc_core.base.values import NamedTuple
from wc_core.ledger.git import config

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from wc_core.ledger.git.repository import Repository

# The limits for the packs beside the largest one: their number, and their size, at most
# _TIMES that of the largest plus _BYTES. So a small store is not packed at every
# commit, and a long log isn't stored in full ten times.
_PACKS = 24
_BYTES = 1 << 19
_TIMES = 2
# git's default of 50 would leave twenty full copies of a log in a thousand commits.
_DEPTH = "--depth=250"
_MEMORY = "pack.windowMemory=64m"
# git itself ignores an older gc.pid.
_STALE_SECONDS = 12 * 3600
_INDEXED_BYTES = 1 << 19
# The files that mark a pack which must stay as it is.
_MARKED = (".keep", ".promisor", ".mtimes")
# A pack is named after the hash of its objects, SHA-1 or SHA-256.
_HEX, _DIGITS = b"0123456789abcdef", {40, 64}


class Pack(NamedTuple):
    """A pack of the store's commits. Its size in bytes comes first, to sort by."""

    size: int
    name: str


class StorageOptions(NamedTuple):
    """The options for git and git-fast-import that control how a commit is stored."""

    git: tuple[str, ...] = ()
    fast_import: tuple[str, ...] = ()


def storage_options(repository: Repository, env: Mapping[str, str]) -> StorageOptions:
    """The options for a commit whose pack is recorded, so that `tidy` finds it."""
    if _is_packing_off(repository, env):
        return StorageOptions()
    # git-fast-import would store a file as a delta of the previous one in the commit,
    # for example a page as a delta of the edges. Later packs would reuse that delta,
    # large as it is.
    own = ("--depth=0", f"--export-pack-edges={_list_path(repository)}")
    return StorageOptions(("-c", "fastimport.unpackLimit=1"), own)


def _is_packing_off(repository: Repository, env: Mapping[str, str]) -> bool:
    value = config.get("gc.auto", repository, env).strip()
    is_off = value.startswith("-") or (value != "" and not value.strip("0"))
    # Packing would fetch the objects that a partial clone lacks.
    is_partial = config.get("extensions.partialClone", repository, env) != ""
    return is_off or is_partial


def _list_path(repository: Repository) -> str:
    """The file in which git-fast-import records its packs."""
    return f"{repository.gitdir}/packs.wc"


def _listed_names(repository: Repository) -> list[str]:
    """The names of the recorded packs."""
    data = read_plain(_list_path(repository)) or b""
    paths = [part.rpartition(b"\n")[2] for part in data.split(b".pack:")[:-1]]
    names = [path.rpartition(b"/")[2] for path in paths]
    return [name.decode() for name in names if _is_pack_name(name)]


def _is_pack_name(name: bytes) -> bool:
    digits = name.removeprefix(b"pack-")
    return len(digits) in _DIGITS and name[:5] == b"pack-" and not digits.strip(_HEX)


def _write_list(repository: Repository, names: Iterable[str]) -> None:
    folder, path = _folder(repository), _list_path(repository)
    text = "".join(f"{folder}/{name}.pack:\n" for name in names)
    durable.remove(f"{path}.new")
    durable.write_new(f"{path}.new", text.encode())
    os.replace(f"{path}.new", path)


def _folder(repository: Repository) -> str:
    return f"{repository.common}/objects/pack"


def pack_names(repository: Repository) -> frozenset[str]:
    """The names of all packs of a repository."""
    files = names_in(_folder(repository))
    return frozenset(
        name.removesuffix(".pack") for name in files if name.endswith(".pack")
    )


def keeps_packs(repository: Repository, env: Mapping[str, str]) -> bool:
    """Return whether a fetch must keep the pack it receives."""
    return not _is_packing_off(repository, env)


def take_over(repository: Repository, fetched: Iterable[str]) -> None:
    """Record fetched packs as packs of the store. The caller holds the git lock."""
    files = set(names_in(_folder(repository)))
    own = [
        name
        for name in fetched
        if f"{name}.idx" in files
        and files.isdisjoint(f"{name}{end}" for end in _MARKED)
    ]
    if own:
        _write_list(repository, [*_listed_names(repository), *own])


def tidy(git: Git, repository: Repository) -> None:
    """Join packs if it is time to. Raises GitError."""
    packs = _own_packs(repository)
    small = _packs_to_join(packs)
    if not small or _is_maintained(repository):
        return
    large = [pack for pack in packs if pack not in small]
    try:
        new_name = _join_packs(git, _folder(repository), small, large)
        _remove_joined(repository, large, small, new_name)
    except GitKilledError:
        # Too large for the time limit: leave it to git's own maintenance.
        durable.remove(_list_path(repository))
        raise
    except (OSError, StorageError) as error:
        raise GitError(f"packs cannot be replaced: {error}") from error


def _join_packs(git: Git, folder: str, small: list[Pack], large: list[Pack]) -> str:
    """Write a pack with the objects of the ``small`` packs that ``large`` lacks.
    Returns its name."""
    names = [f"{pack.name}.pack" for pack in small]
    names += [f"^{pack.name}.pack" for pack in large]
    digest = git.line(
        *("-c", _MEMORY, "pack-objects", "--stdin-packs", "--delta-base-offset"),
        *(_DEPTH, "--non-empty", "--quiet", f"{folder}/pack"),
        feed="".join(f"{name}\n" for name in names).encode(),
    )
    return f"pack-{digest}"


def _own_packs(repository: Repository) -> list[Pack]:
    """The recorded packs that exist, the smallest first, without those in a multi-pack
    index or marked to be kept. One without its index is what a kill left of a pack that
    was joined."""
    folder = _folder(repository)
    index = _read_beginning(f"{folder}/multi-pack-index")
    packs = {
        Pack(size_of(f"{folder}/{name}.pack"), name)
        for name in _listed_names(repository)
        if name.encode() not in index
        and size_of(f"{folder}/{name}.keep") < 0
        and size_of(f"{folder}/{name}.idx") >= 0
    }
    return sorted(pack for pack in packs if pack.size >= 0)


def _read_beginning(path: str) -> bytes:
    """The beginning of a multi-pack index, which has the names of its packs."""
    with contextlib.suppress(FileNotFoundError), open(path, "rb") as file:
        return file.read(_INDEXED_BYTES)
    return b""


def _packs_to_join(packs: list[Pack]) -> list[Pack]:
    """The packs to join: the small ones, and each that is not much larger than all the
    smaller ones together. Empty if it is not time yet.

    ``packs`` are sorted by size.
    """
    *small, largest = packs or [Pack(0, "")]
    total = sum(pack.size for pack in small)
    if len(small) < _PACKS and total < _TIMES * largest.size + _BYTES:
        return []
    result: list[Pack] = []
    size = 0
    for pack in packs:
        if result[1:] and pack.size > _TIMES * size:
            break
        result.append(pack)
        size += pack.size
    return result


def _is_maintained(repository: Repository) -> bool:
    """Return whether the user's git is packing the repository now."""
    for name in ("gc.pid", "objects/maintenance.lock"):
        with contextlib.suppress(FileNotFoundError):
            age = time.time() - os.stat(f"{repository.common}/{name}").st_mtime
            if age < _STALE_SECONDS:
                return True
    return False


def _remove_joined(
    repository: Repository, large: list[Pack], small: list[Pack], new_name: str
) -> None:
    """Remove the ``small`` packs, whose objects are all in the pack ``new_name``.

    After a crash, each pack is either still in the list or left to git's maintenance.
    """
    folder = _folder(repository)
    if any(size_of(f"{folder}/{new_name}.{end}") < 0 for end in ("pack", "idx")):
        raise GitError("the new pack is missing")
    durable.flush_folder(folder)
    _write_list(repository, [*(pack.name for pack in (*large, *small)), new_name])
    joined = {pack.name for pack in small} - {new_name}
    files = [name for name in names_in(folder) if name.partition(".")[0] in joined]
    # The index first: git ignores the other files of a pack without it.
    for name in sorted(files, key=lambda name: not name.endswith(".idx")):
        durable.remove(f"{folder}/{name}")
    _write_list(repository, [*(pack.name for pack in large), new_name])
