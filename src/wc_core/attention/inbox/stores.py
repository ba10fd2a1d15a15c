"""The stores of this machine that an inbox covers.

These are the stores in the folder below HOME in which wc checks them out, and that of
the current folder, of any kind. A store that cannot be read is listed with the reason.
"""

from __future__ import annotations

import os

from wc_core.base.errors import InvalidInputError, NotFoundError, WcError
from wc_core.base.layout import BRANCH
from wc_core.base.phrases import shown_path
from wc_core.base.text import is_hexadecimal
from wc_core.base.values import NamedTuple
from wc_core.ledger.git import config, discovery, storefolder
from wc_core.ledger.git import repository as repositories

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from wc_core.ledger.git.discovery import Place
    from wc_core.ledger.git.repository import Repository

_PREFIX, _DIGEST_DIGITS = "watercooler-", 12


class InboxStore(NamedTuple):
    """A store and its repository.

    ``name`` is the repository's display name; if several have the same, it is a path,
    and ``base_name`` is what they share. ``folder`` is where commands about it are run:
    the current folder if ``is_current``, otherwise the main worktree or, without one,
    another worktree. ``place`` is ``None`` if the store cannot be read; then
    ``problem`` is the reason.
    """

    name: str
    folder: str
    root: str
    place: Place | None = None
    problem: str = ""
    is_current: bool = False
    base_name: str = ""

    def is_called(self, word: str, env: Mapping[str, str]) -> bool:
        """Whether ``word`` is the name of the repository, or the path of it or of its
        store."""
        if "/" not in word:
            return word in {self.name, self.base_name}
        home = env.get("HOME", "")
        path = f"{home}{word[1:]}" if word.startswith("~/") and home else word
        return os.path.realpath(path) in {self.root, os.path.realpath(self.folder)}


def known_stores(cwd: str, env: Mapping[str, str]) -> list[InboxStore]:
    """The stores, that of the current folder first. Raises StorageError if the folder
    of the stores cannot be read."""
    elsewhere = {**env, "WATERCOOLER_DIR": ""}
    current = _current_store(cwd, env)
    folders = storefolder.checkouts(env)
    candidates = [_checked_out(path, elsewhere) for path in folders]
    stores = {store.root: store for store in candidates if store is not None}
    if current is not None:
        stores = {current.root: current} | {
            root: store for root, store in stores.items() if root != current.root
        }
    return _with_distinct_names(list(stores.values()), env)


def chosen_stores(
    stores: Sequence[InboxStore],
    excluded: Iterable[str],
    preferred: Iterable[str],
    env: Mapping[str, str],
) -> list[InboxStore]:
    """The stores without those ``excluded`` by name or path for one command, or always:
    ``preferred``. Raises NotFoundError for an excluded name that no repository has."""
    words = tuple(excluded)
    for word in words:
        if not any(store.is_called(word, env) for store in stores):
            names = ", ".join(store.name for store in stores) or "none"
            raise NotFoundError(
                f"The inbox has no repository {word!r}.",
                f"It has: {names}. Give one of these names, or a path.",
            )
    words = (*words, *preferred)
    return [
        store
        for store in stores
        if not any(store.is_called(word, env) for word in words)
    ]


def _current_store(cwd: str, env: Mapping[str, str]) -> InboxStore | None:
    """The store of the current folder; ``None`` if it has none."""
    repository = repositories.find(cwd)
    name = repository.name if repository is not None else os.path.basename(cwd)
    try:
        place = discovery.find(cwd, env)
    except InvalidInputError:
        return None  # not a possible place for a store
    except WcError as error:
        return InboxStore(name, cwd, "", problem=error.message, is_current=True)
    if place.exists:
        return InboxStore(name, cwd, place.root, place, is_current=True)
    if not place.branch_exists:
        return None
    problem = discovery.not_checked_out_error().message
    return InboxStore(name, cwd, place.root, problem=problem, is_current=True)


def _checked_out(path: str, env: Mapping[str, str]) -> InboxStore | None:
    """The store that is checked out in a folder; ``None`` if none ever was."""
    root = os.path.realpath(path)
    name = _repository_name(os.path.basename(path))
    admin = repositories.pointed_dir(f"{root}/.git")
    if not admin:
        if not discovery.is_store(root):
            return None
        problem = "its folder belongs to no repository"
        return InboxStore(name, root, root, problem=problem)
    if not os.path.isdir(admin):
        problem = f"its repository is gone: there is no {shown_path(admin, env)}"
        return InboxStore(name, root, root, problem=problem)
    repository = repositories.containing(root)
    if repository is None or repository.top != root:
        problem = "its folder belongs to no repository"
        return InboxStore(name, root, root, problem=problem)
    return _store_of(repository, root, env)


def _repository_name(folder: str) -> str:
    """The repository's name in ``watercooler-NAME-DIGEST``, which may end with another
    number; the whole name of the folder if it has another form."""
    name, _, digest = folder.removeprefix(_PREFIX).rpartition("-")
    if not is_hexadecimal(digest, _DIGEST_DIGITS) and digest.isdecimal():
        name, _, digest = name.rpartition("-")
    has_form = folder.startswith(_PREFIX) and is_hexadecimal(digest, _DIGEST_DIGITS)
    return name if name and has_form else folder


def _store_of(repository: Repository, root: str, env: Mapping[str, str]) -> InboxStore:
    """The store of a repository with a checkout at ``root``."""
    folder = _working_folder(repository, root, env)
    store = InboxStore(repository.name, folder, root)
    try:
        place = discovery.find(folder, env)
    except WcError as error:
        return store._replace(problem=error.message)
    if place.root != root:
        used = shown_path(place.root, env)
        problem = f"{shown_path(folder, env)} has another store: {used}"
        return store._replace(problem=problem)
    return store._replace(place=place)


def _working_folder(repository: Repository, root: str, env: Mapping[str, str]) -> str:
    """The folder in which commands about a repository are run."""
    folder, base = os.path.split(repository.common)
    if base == ".git":
        return folder
    # That of a submodule, whose repository is inside that of another one.
    own = config.get("core.worktree", repository, env)
    path = os.path.realpath(os.path.join(repository.common, own))
    if own and os.path.isdir(path):
        return path
    for path, branch in repositories.worktrees(repository):
        if branch != BRANCH and path != root and os.path.isdir(path):
            return os.path.realpath(path)
    return repository.common


def _with_distinct_names(
    stores: list[InboxStore], env: Mapping[str, str]
) -> list[InboxStore]:
    """The same stores; those of repositories with the same name have the path as
    name."""
    names = [store.name for store in stores]
    return [
        store._replace(name=shown_path(store.folder, env), base_name=store.name)
        if names.count(store.name) > 1
        else store
        for store in stores
    ]
