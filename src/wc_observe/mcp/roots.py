"""The folder that a client works in and the agent that it is, as the protocol tells
it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from fastmcp.server.dependencies import get_access_token
from mcp_types import ListRootsRequest, ListRootsResult
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from wc_core.base.errors import WcError
from wc_core.base.text import one_line
from wc_core.ledger.git import discovery
from wc_observe.callers.calls import Call, Progress
from wc_observe.callers.clients import agent_name

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fastmcp.server.context import Context

    from wc_observe.callers.calls import ServerContext

# The key of the roots in requests of the stateless protocol.
ROOTS = "roots"

# Transports with many clients: no client may see another's folders.
_SHARED = ("streamable-http", "sse")

# How long to wait for the roots. A client that has not answered by then never will.
_ROOTS_SECONDS = 2.0


class RootsNeededError(Exception):
    """The client must be asked for its roots. In the stateless protocol, that means
    answering its call with a question."""


class Roots:
    """The folders that clients are working in."""

    def __init__(self) -> None:
        self._silent: set[str] = set()
        self._latest: list[str] = []

    async def fetch(self, context: Context) -> list[str]:
        """Asks the client for its folders. They may change, so they are not cached.

        Raises RootsNeededError if the protocol has no other way to ask.
        """
        if context.request_context is None:
            return []
        capabilities = context.session.client_capabilities
        if capabilities is None or capabilities.roots is None:
            return []
        if context.session.protocol_version in MODERN_PROTOCOL_VERSIONS:
            answers = context.input_responses
            if answers is None:
                raise RootsNeededError
            folders = _existing_folders(answers.get(ROOTS))
        else:
            folders = await self._request_roots(context)
        if context.transport not in _SHARED:
            self._latest = folders
        return folders

    async def fetch_or_recall(self, context: Context) -> list[str]:
        """Returns the client's folders. If the protocol cannot ask for them now,
        returns the latest known ones, provided that the transport has only one
        client."""
        try:
            return await self.fetch(context)
        except RootsNeededError:
            return [] if context.transport in _SHARED else self._latest

    async def _request_roots(self, context: Context) -> list[str]:
        if context.session_id in self._silent:
            return []
        try:
            answer = await context.session.send_request(
                ListRootsRequest(),
                ListRootsResult,
                request_read_timeout_seconds=_ROOTS_SECONDS,
            )
        except Exception:  # noqa: BLE001  (their answer may be wrong in any way)
            # Do not ask a client again that cannot answer: the current folder is better
            # than a wait at each call.
            self._silent.add(context.session_id)
            return []
        return _existing_folders(answer)


def _existing_folders(answer: object) -> list[str]:
    """Returns the existing folders named in a client's answer."""
    if not isinstance(answer, ListRootsResult):
        return []
    paths = [
        os.fsdecode(unquote(urlsplit(str(root.uri)).path, errors="surrogateescape"))
        for root in answer.roots
    ]
    return [path for path in paths if "\0" not in path and os.path.isdir(path)]


def remote_call(context: Context | None, start: ServerContext) -> Call:
    """Returns the call of a network client, to the store in its address."""
    token = get_access_token()
    call = Call(
        client=client_name(context),
        folder=start.folder,
        env=start.env,
        now_ms=start.now_ms,
        progress=Progress(),
        store_name=start.store_name,
        subject=one_line(token.subject or "", 100) if token else "",
        is_wide=start.all_stores and start.graph is not None,
        graph=start.graph,
    )
    if not call.is_wide or start.served is None:
        return call
    peers = [
        call._replace(
            folder=other.folder,
            env=other.env,
            store_name=other.store_name,
        )
        for other in start.served(token)
    ]
    return call._replace(peers=tuple(peers))


def current_call(
    context: Context | None,
    roots: Iterable[str],
    start: ServerContext,
) -> Call:
    """Returns the call of a client on this machine.

    Its folder is the client's first root that has a store, else the first root, else
    the project's folder, else the folder in which the server was started.
    """
    project = start.env.get("CLAUDE_PROJECT_DIR", "")
    own = project if os.path.isdir(project) else start.folder
    folders = [*roots]
    folder = next((root for root in folders if _has_store(root, start)), "")
    return Call(
        client=client_name(context),
        folder=folder or (folders[0] if folders else own),
        env=start.env,
        now_ms=start.now_ms,
        progress=Progress(),
        is_wide=start.all_stores,
        graph=start.graph,
    )


def _has_store(folder: str, start: ServerContext) -> bool:
    try:
        return discovery.find(folder, start.env).exists
    except WcError:
        return False


def client_name(context: Context | None) -> str:
    """Returns the agent that a client is, based on the name it sends."""
    if context is None or context.request_context is None:
        return agent_name("")
    params = context.session.client_params
    return agent_name(params.client_info.name if params else "")
