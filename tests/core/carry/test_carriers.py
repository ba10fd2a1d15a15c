"""The formats of carriers, and what is refused in them."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core import strategies
from wc_core.base import sandboxes
from wc_core.base.names import Directory
from wc_core.ledger.carry import carriers
from wc_core.ledger.carry.carriers import Line, RefusedLineError
from wc_core.ledger.threads import codec
from wc_core.ledger.threads.model import Ball, Entry

ID = "01M8H7GWS0N3G40AHHHKBG28N0"
OTHER = "01M8H7GWS0N3G40AHHHKBG28N1"


def line(**fields: object) -> bytes:
    """A line of a log, with some fields replaced or, if they are ``None``, removed."""
    entry = Entry(
        ID,
        "login",
        "Codex@fix (pat)",
        "2026-11-28T14:04:08.864Z",
        "Done",
        action="say",
        ball=Ball("Pat"),
        parents=(),
    )
    raw = json.loads(codec.to_line(entry, 0)) | fields
    return json.dumps({k: v for k, v in raw.items() if v is not None}).encode()


def reason(data: bytes) -> str:
    """Why a line is refused."""
    with pytest.raises(RefusedLineError) as caught:
        carriers.checked(data, Directory())
    return str(caught.value)


@given(st.lists(st.binary(max_size=60_000), max_size=12), st.text(max_size=40))
def test_messages_carry_every_line(contents: list[bytes], before: str) -> None:
    """Every line is in exactly one message, whatever stands around them after a
    squash; and no message is long, unless it has a single line."""
    lines = [
        Line("login", f"{n}", json.dumps({"n": n, "data": data.hex()}).encode())
        for n, data in enumerate(contents)
    ]
    found = []
    for message in carriers.messages(lines):
        assert carriers.is_carrier(message)
        squashed = f"{before}\n\n".encode() + message + b"\n* another commit\n"
        assert carriers.is_carrier(squashed)
        batch = [data for data in carriers.lines_of(message) if data.startswith(b"{")]
        assert len(batch) == 1 or len(message) < 2 * carriers.MAX_MESSAGE_BYTES
        found += batch
    assert found == [item.data for item in lines]


@given(strategies.entries)
def test_an_entry_of_wc_passes_as_it_is(entry: Entry) -> None:
    """What an agent wrote here is believed there, byte for byte."""
    entry = entry._replace(id=ID, agent="Codex", action="say", parents=())
    data = codec.to_line(entry, 3).strip()
    if codec.read_log(entry.topic, data + b"\n").damage:
        return
    assert carriers.checked(data, Directory()) == Line(entry.topic, ID, data)


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b'{"id": "x', "cut off"),
        (b"{}", "names no thread"),
        (b"[1]", "names no thread"),
        (line(thread_topic="../x"), "'../x' cannot be the name of a thread"),
        (line(thread_topic=".git"), "cannot be the name"),
        (line(thread_topic="a/b"), "cannot be the name"),
        (line(thread_topic=None), "names no thread"),
        (line(thread_topic=7), "names no thread"),
        (line(entry_id=None), "without an entry_id"),
        (line(entry_id="1"), "not one of wc"),
        (line(entry_id=f"{ID}-codex-login"), "not one of wc"),
        (line(action=None, ball=None, parents=None), "not written by wc"),
        (line(tags_added=3), "tags_added of entry"),
        (line(parents=[ID]), "parents"),
        (line(parents=["x"]), "parents"),
        (line(parents=[OTHER] * 101), "parents"),
        (line(agent="Pat"), "by Pat, a person"),
        (line(agent=""), "by nobody"),
        (line(title="x" * carriers.MAX_LINE_BYTES), "longer than"),
        (b'{"a":' * 3000 + b"1" + b"}" * 3000, ""),
    ],
)
def test_what_cannot_be_an_entry_is_refused(data: bytes, expected: str) -> None:
    assert expected in reason(data)


@given(st.binary(max_size=300))
def test_no_bytes_are_an_error(data: bytes) -> None:
    """Whatever a line has, it is an entry or refused."""
    with pytest.raises(RefusedLineError) as caught:
        carriers.checked(b"{" + data, Directory())
    assert str(caught.value).isprintable()


def test_sandboxes_are_recognized_by_their_variables() -> None:
    assert sandboxes.current({}) is None
    assert sandboxes.current({"CLAUDE_CODE_REMOTE": "false"}) is None
    for sandbox in sandboxes.SANDBOXES:
        env = {sandbox.variable: sandbox.value or "1"}
        assert sandboxes.current(env) == sandbox
    declared = sandboxes.current({"WATERCOOLER_SANDBOX": " my\nbox "})
    assert declared is not None
    assert declared.name == "my box"
