"""Finding the store of a call."""

from __future__ import annotations

import shutil

from tests.observe.stores import NOW_MS, Store
from wc_core.ledger.git import discovery
from wc_observe.callers.calls import Call, Progress
from wc_observe.callers.open_store import open_store, root_of_request


def test_a_request_does_not_look_for_its_store_again(
    store: Store, env: dict[str, str]
) -> None:
    store.thread("one")
    folder = store.root.parent
    call = Call("client", str(folder), env, lambda: NOW_MS, Progress())
    assert root_of_request(call) == open_store(call).place.root == str(store.root)
    # The next request is another call, and looks for itself.
    deeper = folder / "deeper"
    (deeper / ".watercooler" / "threads").mkdir(parents=True)
    other = call._replace(folder=str(deeper))
    assert root_of_request(other) == str(deeper / ".watercooler")
    # The first one would find the same even if it were gone by now.
    shutil.rmtree(store.root)
    assert root_of_request(call) == str(store.root)
    assert not discovery.find(call.folder, call.env).exists
