"""What one call reads from: its store, and who is looking.

Brought up to date for each call, so a write by any process shows in the next one.
"""

from __future__ import annotations

from typing import NamedTuple

from wc_core import discovery, identity, repository, settings
from wc_core.errors import NotFoundError, WcError
from wc_core.identity import Asked
from wc_core.layout import BRANCH
from wc_core.views import Viewer
from wc_core.wording import shown_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wc_core.discovery import Place
    from wc_core.identity import Identity
    from wc_observe.calls import Call
    from wc_observe.live import LiveOverview, LiveReader
    from wc_observe.stores import Live


class Desk(NamedTuple):
    """An existing store as the caller sees it; ``store`` is how answers name
    it."""

    store: str
    place: Place
    live: Live
    overview: LiveOverview

    @property
    def reader(self) -> LiveReader:
        """Its threads."""
        return self.live.reader

    @property
    def viewer(self) -> Viewer:
        """Who looks."""
        return self.overview.viewer


def open_desk(call: Call) -> Desk:
    """The store that belongs to the caller's folder.

    Raises NotFoundError with the command that makes it where there is none,
    CorruptError where its checkout cannot be used.
    """
    place = discovery.find(call.folder, call.env)
    store = shown_path(place.root, call.env)
    if not place.exists:
        raise missing(place, store)
    live = call.stores.at(place.root)
    live.refresh()
    found = settings.load(place.root, call.env)
    who = identity.identify(
        Asked(client=call.client), call.env, place.repository, found
    )
    return Desk(store, place, live, live.overview(Viewer(who, found.directory)))


def missing(place: Place, store: str) -> NotFoundError:
    """The error for a store that is not there, with what to run."""
    if place.branch_exists:
        return NotFoundError(
            f"The branch {BRANCH} exists, but nothing has it checked out here; "
            f"the store would be {store}.",
            "Check it out with: wc init",
        )
    if place.kind == discovery.NAMED:
        return NotFoundError(
            f"WATERCOOLER_DIR names {store}, which does not exist.",
            "Correct it, or make the store with: wc init",
        )
    return NotFoundError(
        f"There is no store here yet; it would be {store}.",
        "Make it with: wc init, or start a thread: wc new TOPIC --title '…'",
    )


def who_calls(call: Call) -> Identity:
    """The caller, with or without a store.

    Raises InvalidInputError where a name that was set cannot be one.
    """
    where = repository.find(call.folder)
    try:
        root = discovery.find(call.folder, call.env).root
    except WcError:
        root = ""  # health says what is wrong with it
    found = settings.load(root, call.env) if root else settings.Settings()
    return identity.identify(Asked(client=call.client), call.env, where, found)
