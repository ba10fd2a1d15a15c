"""Keeping what the store's commits take up in proportion to its logs.

A commit holds every file that changed as a whole. git-fast-import(1) puts each
commit into a pack of its own and notes its name; from time to time those packs,
and nothing else of the repository, become one, in which the versions of a log
are told by their differences. Where git was told to do nothing by itself
(``gc.auto = 0``), commits are stored as git does, and nothing is packed.
"""

from __future__ import annotations

import contextlib
import os
import re
import time
from typing import TYPE_CHECKING, NamedTuple

from wc_cli.branch.commits import How
from wc_cli.branch.git import Git, GitError, GitKilledError
from wc_cli.store import durable
from wc_core.errors import StorageError
from wc_core.files import names_in, read_plain, size_of
from wc_core.git import config

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from wc_core.git.repository import Repository

# What lies beside the largest pack: at most so many packs, and not much more
# than twice what is in that. A small store is not to be packed at every turn, a
# long log not to lie there whole ten times.
_PACKS = 24
_BYTES = 1 << 19
_TIMES = 2
# git's usual 50 would leave twenty whole copies of a log in a thousand commits.
_DEPTH = "--depth=250"
_MEMORY = "pack.windowMemory=64m"
# git itself takes a gc.pid that is older for left over.
_STALE_SECONDS = 12 * 3600
_INDEXED_BYTES = 1 << 19
# What git, or a person, marks a pack with that is to be left as it is.
_MARKED = (".keep", ".promisor", ".mtimes")
_NAME = re.compile(rb"(?:^|/)(pack-[0-9a-f]{40,64})\.pack:", re.MULTILINE)


class Pack(NamedTuple):
    """A pack of commits of ours; its size in bytes first, to sort by."""

    size: int
    name: str


def how(where: Repository, env: Mapping[str, str], *, sign: bool) -> How:
    """How a commit is to be made, so that its pack is known to us."""
    if _is_left_alone(where, env):
        return How(sign)
    # Its differences are those between one file of a commit and the next: a
    # page told by its edges would stay so, and as large as it is.
    own = ("--depth=0", f"--export-pack-edges={_list(where)}")
    return How(sign, ("-c", "fastimport.unpackLimit=1"), own)


def _is_left_alone(where: Repository, env: Mapping[str, str]) -> bool:
    wanted = config.get("gc.auto", where, env).strip()
    # What a filtering clone lacks would be fetched to be packed.
    partial = config.get("extensions.partialClone", where, env)
    off = wanted.startswith("-") or (wanted != "" and not wanted.strip("0"))
    return off or partial != ""


def _list(where: Repository) -> str:
    """The file in which git-fast-import notes the packs it makes."""
    return f"{where.gitdir}/packs.wc"


def _folder(where: Repository) -> str:
    return f"{where.common}/objects/pack"


def names(where: Repository) -> frozenset[str]:
    """The packs of a repository, of whomever."""
    found = names_in(_folder(where))
    return frozenset(one[:-5] for one in found if one.endswith(".pack"))


def keeps_packs(where: Repository, env: Mapping[str, str]) -> bool:
    """Whether what is fetched is to stay the pack it comes as."""
    return not _is_left_alone(where, env)


def take_over(where: Repository, fetched: Iterable[str]) -> None:
    """Note packs that were fetched as packs of ours. The caller holds the git
    lock."""
    there = set(names_in(_folder(where)))
    ours = [
        one
        for one in fetched
        if f"{one}.idx" in there and there.isdisjoint(f"{one}{end}" for end in _MARKED)
    ]
    if ours:
        known = _NAME.findall(read_plain(_list(where)) or b"")
        _note(where, [*(one.decode() for one in known), *ours])


def tidy(git: Git, where: Repository) -> None:
    """Make one pack of many, if it is time. Raises GitError."""
    packs = _packs(where)
    chosen = _chosen(packs)
    if not chosen or _is_at_work(where):
        return
    kept = [one for one in packs if one not in chosen]
    names = [f"{one.name}.pack" for one in chosen]
    names += [f"^{one.name}.pack" for one in kept]
    try:
        made = git.line(
            *("-c", _MEMORY, "pack-objects", "--stdin-packs", "--delta-base-offset"),
            *(_DEPTH, "--non-empty", "--quiet", f"{_folder(where)}/pack"),
            feed="".join(f"{name}\n" for name in names).encode(),
        )
        _replace(where, kept, chosen, f"pack-{made}")
    except GitKilledError:
        # Too much for us; it is left to git's own maintenance.
        durable.remove(_list(where))
        raise
    except (OSError, StorageError) as error:
        raise GitError(f"packs cannot be replaced: {error}") from error


def _packs(where: Repository) -> list[Pack]:
    """The packs of ours that are there, the smallest first; not those that
    somebody made a common index of, or means to keep."""
    names = _NAME.findall(read_plain(_list(where)) or b"")
    indexed = _beginning(f"{_folder(where)}/multi-pack-index")
    found = {
        Pack(size_of(f"{_folder(where)}/{name.decode()}.pack"), name.decode())
        for name in names
        if name not in indexed and size_of(f"{_folder(where)}/{name.decode()}.keep") < 0
    }
    return sorted(one for one in found if one.size >= 0)


def _beginning(path: str) -> bytes:
    """What git-multi-pack-index(1) begins with: the names of the packs."""
    with contextlib.suppress(FileNotFoundError), open(path, "rb") as file:
        return file.read(_INDEXED_BYTES)
    return b""


def _chosen(packs: list[Pack]) -> list[Pack]:
    """The packs to make one of: the small ones, and each that is not much
    larger than all the smaller ones together. None, if it is not time."""
    *small, largest = packs or [Pack(0, "")]
    total = sum(one.size for one in small)
    if len(small) < _PACKS and total < _TIMES * largest.size + _BYTES:
        return []
    chosen: list[Pack] = []
    taken = 0
    for one in packs:
        if chosen[1:] and one.size > _TIMES * taken:
            break
        chosen.append(one)
        taken += one.size
    return chosen


def _is_at_work(where: Repository) -> bool:
    """Whether a git of the user's is packing at this moment."""
    for name in ("gc.pid", "objects/maintenance.lock"):
        with contextlib.suppress(FileNotFoundError):
            age = time.time() - os.stat(f"{where.common}/{name}").st_mtime
            if age < _STALE_SECONDS:
                return True
    return False


def _replace(
    where: Repository, kept: list[Pack], chosen: list[Pack], made: str
) -> None:
    """Remove the packs whose objects are all in the one that was made. At
    every moment each pack is in the list, or left to git."""
    folder = _folder(where)
    if size_of(f"{folder}/{made}.pack") < 0 or size_of(f"{folder}/{made}.idx") < 0:
        raise GitError("the pack that was made is not there")
    durable.flush_folder(folder)
    names = [one.name for one in (*kept, *chosen)]
    _note(where, [*names, made])
    gone = {one.name for one in chosen} - {made}
    for name in names_in(folder):
        # The index first: without it git does not look for the others.
        if name.endswith(".idx") and name.removesuffix(".idx") in gone:
            durable.remove(f"{folder}/{name}")
    for name in names_in(folder):
        if name.partition(".")[0] in gone:
            durable.remove(f"{folder}/{name}")
    _note(where, [*(one.name for one in kept), made])


def _note(where: Repository, names: list[str]) -> None:
    text = "".join(f"{_folder(where)}/{name}.pack:\n" for name in names)
    path = _list(where)
    durable.remove(f"{path}.new")
    durable.write_new(f"{path}.new", text.encode())
    os.replace(f"{path}.new", path)
