"""Tells the person of this machine, according to their preferences, what came to them:
a notification, and in the status lines of other repositories the number of things that
wait for them here.

The numbers are written only with ``inbox.statusline`` in their preferences. Each store
gets the total of all others. A convenience: failures are left to the next time.
"""

from __future__ import annotations

import os

from wc_cli.ledger.store.localfiles import LocalFiles
from wc_core.attention.notify import targets
from wc_core.attention.status import elsewhere
from wc_core.base.errors import WcError
from wc_core.base.layout import Layout
from wc_core.base.lean import contextlib
from wc_core.ledger.configuration import preferences

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from wc_core.attention.inbox.stores import InboxStore
    from wc_core.ledger.configuration.preferences import Preferences


def inform_person(root: str, env: Mapping[str, str]) -> None:
    """Notify the person of what came to them in the store at ``root``, by a write here
    or from a remote, and refresh the numbers."""
    if targets.is_wanted(preferences.load(env)):
        from wc_cli.bridges.notify import notifying  # 12 ms, for those who are notified

        notifying.start_if_due(root, env)
    refresh_after_write(root, env)


def refresh_after_write(root: str, env: Mapping[str, str]) -> None:
    """Refresh the numbers after a write to the store at ``root``."""
    if not (preferences.load(env).shows_elsewhere or _is_written(root)):
        return
    # 12 ms, for those who want it
    from wc_core.attention.inbox.stores import known_stores

    with contextlib.suppress(WcError, OSError):
        refresh(known_stores(root, env), env)


def refresh(stores: Sequence[InboxStore], env: Mapping[str, str]) -> None:
    """Write the numbers to these stores, or remove them if they are no longer
    wanted."""
    personal = preferences.load(env)
    readable = [store for store in stores if store.place is not None]
    if personal.shows_elsewhere:
        _write(readable, personal, env)
        return
    for store in readable:
        if _is_written(store.root):
            _remove(Layout(store.root))


def _is_written(root: str) -> bool:
    return os.path.isdir(f"{Layout(root).local}/{elsewhere.FOLDER}")


def _write(
    stores: Sequence[InboxStore], personal: Preferences, env: Mapping[str, str]
) -> None:
    from wc_core.attention.inbox.stores import chosen_stores  # see above
    from wc_core.attention.inbox.view import InboxOwner, store_counts  # see above

    roots = {store.root for store in chosen_stores(stores, (), personal.left_out, env)}
    counts = store_counts(stores, InboxOwner(env, is_person=True))
    waiting = {c.store.root: c.waiting for c in counts if c.store.root in roots}
    for count in counts:
        number = sum(waiting.values()) - waiting.get(count.store.root, 0)
        local, path = LocalFiles(Layout(count.store.root)), elsewhere.file_of(count.key)
        with contextlib.suppress(WcError, OSError):
            if number:
                local.write(path, elsewhere.encode(number))
            elif _is_written(count.store.root):
                local.remove(path)
            local.stamp.renew()


def _remove(layout: Layout) -> None:
    folder = f"{layout.local}/{elsewhere.FOLDER}"
    with contextlib.suppress(WcError, OSError):
        local = LocalFiles(layout)
        for name in os.listdir(folder):
            local.remove(f"{elsewhere.FOLDER}/{name}")
        local.stamp.renew()
