"""Checks that claimed targets exist: a path in any worktree or branch, a symbol in its
file."""

from __future__ import annotations

import os

from wc_cli.ledger.branch.git import GitError
from wc_core.base.errors import NotFoundError, StorageError
from wc_core.base.files import NotPlainError, read_plain
from wc_core.base.layout import BRANCH
from wc_core.base.names import near_names
from wc_core.base.phrases import quoted
from wc_core.edits.claims.ids import TOP
from wc_core.edits.graph import parsing, symbols
from wc_core.ledger.git.worktrees import worktrees

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from wc_cli.edits.claims.registry import Registry
    from wc_core.edits.claims.ids import ClaimId
    from wc_core.edits.graph.symbols import Definition

_BRANCHES = ("refs/heads/", "refs/remotes/")
_SHOWN = 3


def place_of(registry: Registry, target: ClaimId) -> str:
    """The worktree or branch in which a target exists; empty if there is none. A symbol
    of a file that cannot be parsed exists nowhere."""
    if target.path == TOP:
        return "every worktree"
    if target.symbol and parsing.obstacle(target.path):
        return ""
    for worktree in worktrees(registry.repository, registry.env):
        if worktree.path and _is_in(worktree.path, target):
            return f"the worktree {worktree.name}"
    try:
        return _branch_with(registry, target)
    except GitError as error:
        raise StorageError(f"The branches cannot be read: {error}.") from error


def _is_in(top: str, target: ClaimId) -> bool:
    """Return whether a worktree has a target."""
    if not target.symbol:
        return os.path.lexists(os.path.join(top, target.path))
    return _defines(_definitions(top, target.path), target)


def _definitions(top: str, path: str) -> tuple[Definition, ...] | None:
    """The symbols that a worktree's file defines; ``None`` if they cannot be known.
    Raises StorageError."""
    try:
        source = read_plain(os.path.join(top, path), top, parsing.MAX_BYTES)
    except NotPlainError:
        return None
    except OSError as error:
        raise StorageError(f"{path} cannot be read: {error.strerror}.") from error
    return symbols.definitions(path, source or b"")


def _defines(defined: tuple[Definition, ...] | None, target: ClaimId) -> bool:
    """Return whether the definitions of a file include the target's symbol."""
    return any(item.name == target.symbol for item in defined or ())


def _branch_with(registry: Registry, target: ClaimId) -> str:
    """The first branch, local or fetched, whose commit has a target."""
    git = registry.git
    words = ("for-each-ref", "--format=%(refname)", *_BRANCHES)
    names = os.fsdecode(git.run(*words)).splitlines()
    names = [name for name in names if not name.endswith(f"/{BRANCH}")]
    if "\n" in target.path or not names:
        return ""
    feed = "".join(f"{name}:{target.path}\n" for name in names)
    check = "--batch-check=%(objecttype) %(objectname)"
    output = git.run("cat-file", check, feed=os.fsencode(feed))
    contents: dict[bytes, bool] = {}
    for name, line in zip(names, output.splitlines(), strict=True):
        kind, _, oid = line.partition(b" ")
        if kind not in {b"blob", b"tree", b"commit"}:
            continue
        if target.symbol and oid not in contents:
            is_file = kind == b"blob"
            source = git.run("cat-file", "blob", oid.decode()) if is_file else b""
            defined = symbols.definitions(target.path, source)
            contents[oid] = _defines(defined, target)
        if contents.get(oid, True):
            return f"the branch {name.partition('/')[2].partition('/')[2]}"
    return ""


def require_symbols(top: str, targets: Iterable[ClaimId]) -> list[str]:
    """Raise NotFoundError for the first target whose symbol is not in its file in the
    worktree at ``top``. Returns a note for each that cannot be checked."""
    notes = []
    for target in targets:
        if not target.symbol:
            continue
        defined = _definitions(top, target.path)
        if defined is None:
            obstacle = (
                parsing.obstacle(target.path) or "it is not a file that can be parsed"
            )
            notes.append(f"not checked whether {target} exists: {obstacle}")
        elif not _defines(defined, target):
            raise _no_symbol_error(defined, target)
    return notes


def absent(top: str, targets: Iterable[ClaimId]) -> list[ClaimId]:
    """The targets that the worktree at ``top`` lacks, as far as that can be known."""
    return [
        target
        for target in targets
        if not (target.symbol and _definitions(top, target.path) is None)
        and not _is_in(top, target)
    ]


def _no_symbol_error(defined: Sequence[Definition], target: ClaimId) -> NotFoundError:
    """The error for a symbol that is not in its file, with similar ones."""
    simple_name = target.symbol.rpartition(".")[2]
    matching = [item.name for item in defined if item.simple_name == simple_name]
    near = near_names(target.symbol, [item.name for item in defined])
    names = list(dict.fromkeys([*matching, *near]))[:_SHOWN]
    alike = f"It defines: {', '.join(names)}. " if names else ""
    word = quoted(str(target))
    return NotFoundError(
        f"{target.path} does not define {target.symbol}.",
        f"{alike}If it does not exist yet: wc claim {word} --new",
    )
