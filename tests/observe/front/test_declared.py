"""The answers of the front are those of the real server."""

from __future__ import annotations

import json
from typing import Any

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mcp_types.version import KNOWN_PROTOCOL_VERSIONS, MODERN_PROTOCOL_VERSIONS

from tests.observe.front.asking import PLAIN, ask, enveloped, hello, line, server
from wc_observe.front.firstanswers import (
    DISCOVER,
    LISTS,
    PING,
    FirstAnswers,
    read_declared,
)
from wc_observe.front.requests import parse_message

Fields = dict[str, Any]
# One that is shown structured content alone, one by the form of its name, and others.
CLIENTS = ("codex-mcp-client", "claude-code (via mcp-remote 1)", "Gemini CLI", "x")
METHODS = (PING, DISCOVER, *LISTS)


def front_answers(
    messages: list[Fields], *, all_stores: bool = False
) -> list[Fields | None]:
    """The answer to each message, as far as the front has one."""
    front = FirstAnswers(read_declared(), all_stores=all_stores)
    answers = [front.answer(parse_message(line(message))) for message in messages]
    return [json.loads(answer) if answer else None for answer in answers]


def conversation(revision: str, client: str) -> list[Fields]:
    """All that the front may answer in a revision of the protocol."""
    info = {"name": client, "version": "1"}
    if revision in MODERN_PROTOCOL_VERSIONS:
        return [enveloped(method, revision, info) for method in METHODS[1:]]
    requests = [{"id": method, "method": method} for method in (PING, *LISTS)]
    return [*hello(revision, info), *requests]


@pytest.mark.parametrize("revision", [*KNOWN_PROTOCOL_VERSIONS, "1999-01-01"])
@pytest.mark.parametrize("client", CLIENTS)
def test_they_are_the_same_in_each_revision(revision: str, client: str) -> None:
    for all_stores in (False, True):
        messages = conversation(revision, client)
        served = server(all_stores=all_stores)
        real = anyio.run(ask, served, messages)
        answers = front_answers(messages, all_stores=all_stores)
        notifications = [k for k, each in enumerate(messages) if "id" not in each]
        assert [k for k, each in enumerate(answers) if each is None] == notifications
        assert [each for each in answers if each is not None] == real


CAPABILITIES = (
    *("roots", "sampling", "elicitation", "experimental", "extensions", "tasks"),
    *("form", "url", "context", "tools", "listChanged", "applyDefaults", "x"),
    *("requests", "createMessage", "list"),
)
IDS: st.SearchStrategy[Any] = st.one_of(
    st.integers(), st.text(), st.sampled_from([0, -1, 1.5, True, None, [], "1"])
)
TREES: st.SearchStrategy[Any] = st.recursive(
    st.sampled_from([{}, None, True, 1, "x", [], {"listChanged": True}]),
    lambda inner: st.dictionaries(
        st.sampled_from(CAPABILITIES),
        inner,
        max_size=3,
    ),
    max_leaves=8,
)
INFOS = st.fixed_dictionaries(
    {"name": st.sampled_from(["x", "codex-mcp-client", "", "a\nb", 1])},
    optional={
        "version": st.sampled_from(["1", "", None]),
        "title": st.sampled_from(["T", None, 1]),
        "websiteUrl": st.sampled_from(["https://x", "not an address"]),
        "icons": st.sampled_from([[], [{"src": "https://x"}], 1]),
    },
)
METAS = st.fixed_dictionaries(
    {},
    optional={
        "progressToken": IDS,
        "io.modelcontextprotocol/protocolVersion": st.sampled_from(
            ["2026-07-28", "2025-11-25"]
        ),
        "io.modelcontextprotocol/clientInfo": INFOS,
        "io.modelcontextprotocol/clientCapabilities": TREES,
        "io.modelcontextprotocol/logLevel": st.sampled_from(["debug", "loud", 1]),
        "other": st.none(),
    },
)
HELLOS = st.fixed_dictionaries(
    {
        "protocolVersion": st.sampled_from([*KNOWN_PROTOCOL_VERSIONS, "", 1]),
        "capabilities": TREES,
        "clientInfo": INFOS,
    },
    optional={"_meta": METAS, "extra": st.none()},
)
PARAMS = st.fixed_dictionaries(
    {}, optional={"_meta": METAS, "cursor": st.sampled_from([None, "", "x", 1])}
)
REQUESTS = st.one_of(
    st.fixed_dictionaries(
        {"id": IDS, "method": st.just("initialize"), "params": HELLOS}
    ),
    st.fixed_dictionaries(
        {"id": IDS, "method": st.sampled_from([*METHODS, "nope", "logging/setLevel"])},
        optional={"params": PARAMS, "extra": st.none()},
    ),
)


@settings(max_examples=120, deadline=None)
@given(
    st.sampled_from([[], [PLAIN], conversation("2026-07-28", "x")[:1]]),
    st.lists(REQUESTS, min_size=1, max_size=3),
)
def test_what_the_front_answers_the_real_server_answers_alike(
    before: list[Fields], requests: list[Fields]
) -> None:
    """Whatever the front answers, and however unusual the requests are."""
    messages = [*before, *requests]
    answers = front_answers(messages)
    answered = [k for k, answer in enumerate(answers) if answer is not None]
    if not answered:
        return
    # The real server is given what is answered alone: it refuses some of the rest
    # before it is a message.
    own = [messages[k] for k in answered]
    real = anyio.run(ask, server(), own)
    assert [answers[k] for k in answered] == real


@pytest.mark.parametrize(
    ("waits", "is_over"),
    [
        (line({"id": 2, "method": "tools/call", "params": {"name": "x"}}), False),
        (line({"method": "notifications/initialized"}), False),
        (line({"id": 2, "method": "resources/list"}), False),
        (line(PLAIN), True),
        (b"{}\n", True),
        (line({"id": 2, "result": {}}), True),
    ],
)
def test_lists_are_answered_before_what_waits(waits: bytes, *, is_over: bool) -> None:
    """Unless that is a second handshake, or no request or notification."""
    front = FirstAnswers(read_declared())
    assert front.answer(parse_message(line(PLAIN)))
    assert front.answer(parse_message(waits)) is None
    listed = front.answer(parse_message(line({"id": 3, "method": "tools/list"})))
    assert (listed is None) is front.is_over is is_over
