"""The stores that a server serves, and whether they exist.

A separate module, so that a refusal does not wait for the server's imports.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from wc_core.base.errors import NotFoundError
from wc_core.base.phrases import shown_path
from wc_core.ledger.git import discovery
from wc_observe.callers.open_store import missing_store

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wc_observe.callers.calls import ServerContext
    from wc_observe.http.options import HttpOptions

# The name of the store if only one is served, without a name.
ONLY = "store"


def store_contexts(
    options: HttpOptions, start: ServerContext
) -> dict[str, ServerContext]:
    """Returns the server context of each store, by the store's name."""
    if not options.stores:
        return {ONLY: start._replace(store_name=ONLY)}
    return {
        name: start._replace(
            folder=folder, env=_env_of(folder, start.env), store_name=name
        )
        for name, folder in options.stores
    }


def _env_of(folder: str, env: Mapping[str, str]) -> dict[str, str]:
    """Returns the environment for a folder: the folder's own store if it is one,
    otherwise the store that belongs to it. The caller's environment could name another
    store."""
    environment = {key: value for key, value in env.items() if key != "WATERCOOLER_DIR"}
    if discovery.is_store(folder) or discovery.is_checkout(folder):
        environment["WATERCOOLER_DIR"] = folder
    return environment


def check_stores(options: HttpOptions, start: ServerContext) -> None:
    """Raises NotFoundError for a store that does not exist, and CorruptError for an
    unusable one: better at the start than in every answer."""
    for name, context in store_contexts(options, start).items():
        place = discovery.find(context.folder, context.env)
        if not place.exists:
            error = missing_store(
                place, shown_path(place.root, context.env), context.env
            )
            option = f"--store {name}: " if options.stores else ""
            raise NotFoundError(f"{option}{error.message}", error.hint)
