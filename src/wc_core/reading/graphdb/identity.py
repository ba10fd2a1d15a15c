"""Which repository of a graph a store belongs to.

All clones of a repository have the same id: the address of the remote that the threads
are exchanged with, without scheme, user and ``.git``. A store without a remote is
identified by its machine and folder.
"""

from __future__ import annotations

import os

from wc_core.base.lean import re
from wc_core.base.values import NamedTuple
from wc_core.ledger.git import config, discovery, remotes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

# Of a URL (scheme://user@host:port/path) and of scp's form (user@host:path).
_URL = r"[A-Za-z][A-Za-z0-9+.-]*://(?:[^/@]*@)?(?P<host>[^/:]+)(?::\d+)?/(?P<path>.+)"
_SCP = r"(?:[^/@]+@)?(?P<host>[^/:]+):(?P<path>[^/].*|/.+)"


class GraphRepository(NamedTuple):
    """A repository in a graph: its id, its display name, and ``source``: the machine
    and folder of the store that it is projected from."""

    id: str
    name: str
    source: str


def repository_of(root: str, env: Mapping[str, str], machine: str) -> GraphRepository:
    """Returns the repository of the store at ``root``, on the ``machine``."""
    root = os.path.realpath(root)
    source = f"{machine}:{root}"
    checkout = discovery.checkout_at(root)
    if checkout is None:
        top = os.path.dirname(root) if os.path.basename(root)[:1] == "." else root
        return GraphRepository(source, os.path.basename(top), source)
    # The variable is about one repository; there may be many.
    env = {**env, remotes.VARIABLE: ""}
    remote = remotes.find(checkout, env)
    name = remote.name if remote is not None else ""
    urls = config.values("remote", "url", checkout, env)
    address = urls.get(name, [name])[0]
    own = repository_id(address) or f"{machine}:{remotes.home_folder(checkout)}"
    return GraphRepository(own, checkout.name, source)


def repository_id(remote: str) -> str:
    """Returns the id for the address of a remote; empty for a path on one machine."""
    match = re.fullmatch(_URL, remote) or re.fullmatch(_SCP, remote)
    if match is None or remote.startswith(("file:", "/", ".")):
        return ""
    path = match["path"].strip("/").removesuffix(".git")
    return f"{match['host'].lower()}/{path}"
