"""The store that a call reads, and who is looking at it.

Each call reads it as a command does: the index, and the logs of threads that changed
since it was made. Nothing is kept for the next call.
"""

from __future__ import annotations

import os
import re
from contextvars import ContextVar
from typing import TYPE_CHECKING

from wc_core.base.errors import NotFoundError, WcError
from wc_core.base.phrases import shown_path
from wc_core.base.values import NamedTuple
from wc_core.ledger.git import contact, discovery, repository
from wc_core.ledger.threads import settings
from wc_core.ledger.threads.reader import StoreReader
from wc_core.people.identity import resolve, userrecord
from wc_core.people.identity.resolve import Asked, Evidence
from wc_core.people.identity.viewer import Viewer
from wc_core.reading.meaning.asking import Meaning
from wc_core.reading.views.overview import Overview
from wc_core.reading.views.search.indexed import IndexedSearch

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wc_core.ledger.git.discovery import Place
    from wc_core.ledger.git.repository import Repository
    from wc_core.ledger.threads.reader import Thread
    from wc_core.ledger.threads.settings import Settings
    from wc_core.ledger.threads.snapshot import Snapshot
    from wc_core.people.identity.resolve import Identity
    from wc_core.reading.meaning.embedding import QueryAnswers
    from wc_observe.callers.calls import Call, Progress


# Any other folder, such as one in an error message of git; not the path of a URL.
_ABSOLUTE = re.compile(r"(?<![\w.:/~%-])(?:/[^\s/'\",;:]+){2,}/?")

# The call that last opened a store, and that store's folder.
_LATEST: ContextVar[tuple[Call | None, str]] = ContextVar("latest")


class CountingReader(StoreReader):
    """A reader that counts the threads it reads."""

    def __init__(self, root: str, progress: Progress) -> None:
        super().__init__(root)
        self._progress = progress

    def topics_and_folders(self) -> tuple[list[str], dict[str, str]]:
        """Like `StoreReader.topics_and_folders`."""
        topics, folders = super().topics_and_folders()
        self._progress.total = len(topics)
        return topics, folders

    def snapshot(self, topic: str) -> Snapshot:
        """Like `StoreReader.snapshot`."""
        self._progress.done += 1
        return super().snapshot(topic)

    def thread(self, topic: str) -> Thread:
        """Like `StoreReader.thread`."""
        self._progress.done += 1
        return super().thread(topic)


class OpenStore(NamedTuple):
    """An existing store as the caller sees it. ``label`` is its name in answers."""

    label: str
    place: Place
    overview: Overview
    settings: Settings
    env: Mapping[str, str]

    @property
    def reader(self) -> StoreReader:
        """Reads its threads."""
        return self.overview.reader

    @property
    def viewer(self) -> Viewer:
        """Who is looking."""
        return self.overview.viewer

    def engine(self, queries: QueryAnswers | None = None) -> IndexedSearch:
        """Returns the searcher, for one answer. Beyond words, it uses what the user who
        runs the server prefers; stores that are searched together share the
        ``queries``."""
        keys = self.overview.keys
        meaning = Meaning(self.reader, keys, self.env, queries=queries)
        return IndexedSearch(self.overview, meaning)


def open_store(call: Call) -> OpenStore:
    """Returns the store that belongs to the caller's folder.

    Raises NotFoundError, with the command that creates it, if there is none, and
    CorruptError if its checkout cannot be used.
    """
    place = discovery.find(call.folder, call.env)
    _LATEST.set((call, place.root))
    label = store_label(place.root, call)
    if not place.exists:
        raise missing_store(place, label, call.env)
    store_settings = settings.load(place.root, call.env)
    identity = _identify_caller(call, place.repository, store_settings, place.root)
    reader = CountingReader(place.root, call.progress)
    overview = Overview(reader, Viewer(identity, store_settings.directory))
    return OpenStore(label, place, overview, store_settings, call.env)


def root_of_request(call: Call) -> str:
    """Returns the folder of the store of a call that is made for one request: the one
    that it opened, if it did, without looking for it again.

    Raises what `discovery.find` raises.
    """
    latest, root = _LATEST.get((None, ""))
    return root if latest is call else discovery.find(call.folder, call.env).root


def _identify_caller(
    call: Call, repository: Repository | None, store_settings: Settings, root: str
) -> Identity:
    """Returns the caller; ``root`` is the store's folder, or empty. Over a network that
    is the client's own name and its authenticated user, because this machine's user and
    worktree are not the caller's."""
    request = Asked(client=call.client)
    if not call.store_name:
        evidence = Evidence(lambda: userrecord.recorded_user(root, call.env))
        return resolve.identify(request, call.env, repository, store_settings, evidence)
    env = {"WATERCOOLER_USER": call.subject, "GIT_CONFIG_NOSYSTEM": "1"}
    return resolve.identify(request, env, None, store_settings)


def missing_store(place: Place, store: str, env: Mapping[str, str]) -> NotFoundError:
    """Returns the error for a store that does not exist, with the command to run."""
    if place.branch_exists:
        return discovery.not_checked_out_error()
    if place.kind == discovery.NAMED:
        return NotFoundError(
            f"WATERCOOLER_DIR names {store}, which does not exist.",
            "Correct it, or create the store with: wc init",
        )
    if place.kind == discovery.PLAIN and not os.path.isdir(os.path.dirname(place.root)):
        return NotFoundError(
            f"The folder of this server no longer exists: {os.path.dirname(store)}",
            "Start it again in a worktree of the repository.",
        )
    if unasked := contact.unasked(place, env):
        fact = f"{unasked.remote} has not been asked for threads."
        return NotFoundError(fact, f"Ask it: {unasked.command}")
    return NotFoundError(
        f"There is no store yet; it would be {store}.",
        "Create it with: wc init, or start a thread: wc new TOPIC -m '…'",
    )


def caller_identity(call: Call) -> Identity:
    """Returns the caller, whether or not there is a store.

    Raises InvalidInputError if a configured name is not valid.
    """
    found_repository = repository.find(call.folder)
    try:
        root = discovery.find(call.folder, call.env).root
    except WcError:
        root = ""  # health reports what is wrong with it
    store_settings = settings.load(root, call.env) if root else settings.Settings()
    return _identify_caller(call, found_repository, store_settings, root)


def without_folders(text: str, call: Call) -> str:
    """Returns the text; for a call over a network, without this machine's folders."""
    if not call.store_name:
        return text
    try:
        root = discovery.find(call.folder, call.env).root
    except WcError:
        root = ""
    home = call.env.get("HOME", "")
    replacements = (
        (root, call.store_name),
        (call.folder, call.store_name),
        (home, "~"),
    )
    for path, name in replacements:
        for folder in (path, os.path.realpath(path) if path else ""):
            if folder.strip("/"):
                text = text.replace(folder, name)
    return _ABSOLUTE.sub("…", text)


def store_label(path: str, call: Call) -> str:
    """Returns how answers name a path. Over a network that is the store's served name:
    callers must not learn about folders of this machine."""
    return call.store_name or shown_path(path, call.env)
