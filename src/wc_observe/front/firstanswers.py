"""Decides which of a client's lines are answered before the real server is ready."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from wc_observe.front import requests
from wc_observe.front.declared import (
    DISCOVER,
    INITIALIZE,
    LISTEN,
    LISTS,
    PING,
    RESOURCES,
)

if TYPE_CHECKING:
    from wc_observe.front.declared import Declarations, Fields
    from wc_observe.front.requests import ClientMessage

# The id with which the real server gets the first request again. Its answer must not
# reach the client, which already has one.
REPEATED_ID = "watercooler: the first request, repeated"
ACKNOWLEDGED = "notifications/subscriptions/acknowledged"
SUBSCRIPTION_ID = "io.modelcontextprotocol/subscriptionId"
# Of the lists, only this one changes while the server runs.
RESOURCES_CHANGED = "resourcesListChanged"


class FirstAnswers:
    """Answers requests whose answer is the same in every store.

    The first message decides. If it is a request in the usual form, later requests are
    answered, too, whatever waits for the real server. ``is_over`` becomes true if the
    first message is something else, at a second handshake, and at a line that is
    neither a request nor a notification: the real server gets everything from there on.

    A stream of changes is only acknowledged: the real server gets its request, too.
    ``acknowledged`` are the ids of these requests. A client that has a stream for the
    list of resources gets the fixed ones at once, and has to be told on the streams
    ``outdated`` that there may be more: it would list no tools before it has them.
    """

    def __init__(
        self,
        declared: Declarations,
        *,
        all_stores: bool = False,
        lists_older: bool = False,
    ) -> None:
        self._declared = declared
        self._all_stores, self._lists_older = all_stores, lists_older
        self._opening: ClientMessage | None = None
        self.is_over = False
        self.acknowledged: set[int | str] = set()
        self._following: set[int | str] = set()
        self.outdated: set[int | str] = set()

    def answer(self, message: ClientMessage | None) -> bytes | None:
        """Returns the answer to a message, as a line. ``None`` if the real server must
        get the message."""
        if message is not None and message.id is not None:
            result = self._result(message)
            if result is not None:
                return _line({"id": message.id, "result": result})
        if message is None or self._opening is None:
            self.is_over = True
        return None

    def acknowledgement(self, message: ClientMessage | None) -> bytes | None:
        """Returns the first message of the stream of changes that a request asks for,
        as a line: some clients list tools only after it. ``None`` for anything else."""
        if message is None or message.method != LISTEN or message.id is None:
            return None
        envelope = requests.envelope_of(message, "notifications")
        changes = requests.wanted_changes(message)
        if self.is_over or envelope is None or changes is None:
            return None
        if envelope.version not in self._declared.stateless:
            return None
        self.acknowledged.add(message.id)
        kept = {name: True for name in (RESOURCES_CHANGED,) if changes.get(name)}
        if kept:
            self._following.add(message.id)
        params = {"_meta": {SUBSCRIPTION_ID: message.id}, "notifications": kept}
        return _line({"method": ACKNOWLEDGED, "params": params})

    def opening_line(self) -> bytes:
        """Returns the first request for the real server, so that it knows the client;
        nothing if it was not answered."""
        opening = self._opening
        if opening is None:
            return b""
        fields = {"method": opening.method, "params": opening.params}
        return _line({"id": REPEATED_ID} | fields)

    def _result(self, request: ClientMessage) -> Fields | None:
        if self.is_over:
            return None
        if request.method == INITIALIZE:
            return self._hello(request)
        if self._opening is None or self._opening.method != INITIALIZE:
            return self._stateless_result(request)
        if not requests.has_no_parameters(request):
            return None
        if request.method == PING:
            return {}
        return self._listing(request.method)

    def _hello(self, request: ClientMessage) -> Fields | None:
        hello = requests.hello_of(request)
        if self._opening is not None or hello is None:
            self.is_over = True
            return None
        self._opening = request
        return self._declared.hello(hello.version)

    def _stateless_result(self, request: ClientMessage) -> Fields | None:
        envelope = requests.envelope_of(request)
        if envelope is None or envelope.version not in self._declared.stateless:
            return None
        if request.method == RESOURCES and self._following:
            self.outdated |= self._following
            result: Fields | None = self._declared.results[RESOURCES]
        elif request.method == DISCOVER:
            result = self._declared.results[DISCOVER]
        else:
            result = self._listing(request.method)
        if result is None:
            return None
        if self._opening is None:
            self._opening = request
        return self._declared.enveloped(result)

    def _listing(self, method: str) -> Fields | None:
        if method not in LISTS:
            return None
        return self._declared.listing(
            method, all_stores=self._all_stores, lists_older=self._lists_older
        )


def _line(members: dict[str, Any]) -> bytes:
    text = json.dumps(
        {"jsonrpc": "2.0"} | members, ensure_ascii=False, separators=(",", ":")
    )
    return f"{text}\n".encode()
