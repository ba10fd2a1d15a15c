"""The table of keys agrees with the settings that are made of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.strategies import json_values
from wc_core.ledger.configuration import keys, preferences
from wc_core.ledger.configuration.keys import Key, ValueOfKeyError
from wc_core.ledger.threads.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Sequence


def test_each_key_has_its_default_in_the_settings() -> None:
    for key in keys.KEYS:
        if key.field:
            is_rule = key.parts[0] == keys.RULES
            owner = Settings().rules if is_rule else Settings()
            value = getattr(owner, key.field)
            expected = key.default == "auto" if key.field == "push" else key.default
            assert value == (() if expected is None else expected), key.name
        assert key.help.endswith(".")
        assert len(key.help) < 80


def test_names_are_unique() -> None:
    assert len({key.name for key in keys.KEYS}) == len(keys.KEYS)


@pytest.mark.parametrize(
    ("typed", "parts"),
    [
        ("ball.enforce", ("ball", "enforce")),
        ('aliases."v1.2"', ("aliases", "v1.2")),
        ("aliases.'a b'", ("aliases", "a b")),
        ("aliases.it's", ("aliases", "its")),
        ("", ("",)),
        ("a..b", ("a", "", "b")),
    ],
)
def test_the_parts_of_a_key(typed: str, parts: Sequence[str]) -> None:
    assert keys.split(typed) == parts


@pytest.mark.parametrize(
    ("parts", "name"),
    [
        (("ball", "enforce"), "ball.enforce"),
        (("aliases", "cc"), "aliases.NAME"),
        (("aliases", ""), ""),
        (("topics", "a", "counterparts", "b"), "topics.TOPIC.counterparts.NAME"),
        (("ball",), ""),
        (("Ball", "enforce"), ""),
    ],
)
def test_finding_a_key(parts: Sequence[str], name: str) -> None:
    key = keys.find(parts)
    assert (key.name if key else "") == name


@given(key=st.sampled_from(keys.KEYS), value=json_values)
def test_any_value_is_used_or_refused(key: Key, value: Any) -> None:
    try:
        used = keys.checked(key, value)
    except ValueOfKeyError:
        return
    assert used == (value if not isinstance(used, tuple) else used)
    assert used is not None


@given(key=st.sampled_from(keys.KEYS), words=st.lists(st.text(), max_size=3))
def test_what_is_typed_is_valid_in_a_file(key: Key, words: list[str]) -> None:
    try:
        value = keys.typed(key, words)
    except ValueOfKeyError:
        return
    keys.checked(key, value)


@pytest.mark.parametrize(
    "text",
    [
        "http://localhost:11434",
        "https://models.example.org/openai/v1/",
        "HTTP://[::1]:8080/v1",
        "http://10.0.0.3",
    ],
)
def test_an_address_of_a_server(text: str) -> None:
    key = keys.find(("meaning", "endpoint"), preferences.KEYS)
    assert key is not None
    assert keys.typed(key, [text]) == text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "localhost:11434",
        "file:///etc/passwd",
        "ftp://example.org",
        "http://",
        "http://pat:secret@example.org",
        "http://example.org/?key=secret",
        "http://example.org/#x",
        "http://example.org /v1",
        "http://example.org\n",
        "http://exa\x1bmple.org",
        "http://example.org:port",
        "http://example.org\\@other.org",
        1,
    ],
)
def test_what_is_no_address_of_a_server(text: Any) -> None:
    key = keys.find(("meaning", "endpoint"), preferences.KEYS)
    assert key is not None
    with pytest.raises(ValueOfKeyError, match="not an address with http or https"):
        keys.checked(key, text)
