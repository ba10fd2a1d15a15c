"""Topics and paths: nothing but a name inside the folder ever comes out."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.core.strategies import relaxed
from wc_core.base.errors import InvalidInputError
from wc_core.base.layout import (
    MAX_SAFE_BYTES,
    MAX_TOPIC_BYTES,
    Layout,
    file_name,
    file_names,
    is_slug,
    nearest_slug,
    new_topic,
    safe_name,
    topic_of,
    topics_of,
)
from wc_core.ledger.threads.reader import StoreReader

if TYPE_CHECKING:
    from pathlib import Path

TRICKY = (
    "..", ".", "/", "\\", "%", "%2E", "%2e", "%2F", "%00", "%", "-", "_", "\0", "\n",
    "é", "e\u0301", "İ", "ß", "\ud800", "\udcff", "\u202e", "🎾", " ", "~", "con", "A",
    "01", "\u0345",
)  # fmt: skip
anything = st.text(st.characters(exclude_categories=()), max_size=20)
topics = anything | st.lists(st.sampled_from(TRICKY), max_size=5).map("".join)
# Whatever a Unix file system can hold: all bytes but two.
raw_names = (
    st.binary(min_size=1, max_size=255)
    | st.lists(st.sampled_from(TRICKY), min_size=1, max_size=9).map(
        lambda parts: "".join(parts).encode(errors="surrogatepass")
    )
).map(lambda raw: raw.replace(b"/", b"%").replace(b"\0", b"%"))
possible_names = raw_names.map(os.fsdecode).filter(lambda name: name not in {".", ".."})


@relaxed
@given(topics)
@example("../../x")
@example("\ud800")
@example("%2E%2E")
@example("%2E%2E%2Fx")
@example("")
def test_a_topic_is_one_file_name_inside_the_folder_or_refused(topic: str) -> None:
    try:
        name = file_name(topic)
    except InvalidInputError:
        return
    assert topic_of(name) == topic
    assert name not in {"", ".", ".."}
    assert not {"/", "\0"} & set(name)
    assert len(os.fsencode(name)) <= 255
    layout = Layout("/store")
    for path in (
        layout.folder(topic),
        layout.page(topic),
        layout.lock(topic),
        layout.cursors(topic),
    ):
        parent, _ = os.path.split(path)
        assert os.path.normpath(path) == path
        assert os.path.dirname(os.path.normpath(f"{parent}/{name}")) == parent


@relaxed
@given(possible_names)
@example(".git")
@example("-rf")
@example("%")
@example("a" * 255)
@example(".foo bar")
def test_every_name_a_file_can_have_is_a_topic_of_its_own(name: str) -> None:
    topic = topic_of(name)
    assert file_name(topic) == name
    assert topic == name or "%" in topic
    assert not topic.startswith("-")
    assert topic.isprintable()
    assert not set(topic) & set("/\\ '\"$`;&|<>*?()")


@relaxed
@given(st.lists(possible_names | st.sampled_from(("a-b", "c.d", "E_1", "x" * 100))))
@example([])
@example(["a", "con"])
@example(["a", "-b", ".c", "d."])
@example(["x" * 101, "a"])
def test_many_names_are_the_topics_that_each_of_them_is(names: list[str]) -> None:
    topics = topics_of(names)
    assert topics == [topic_of(name) for name in names]
    assert file_names(topics) == names


@pytest.mark.parametrize("topic", ["", "b/c", "..", "con", "x" * 101, "-d", "e."])
def test_many_topics_are_refused_if_one_of_them_is(topic: str) -> None:
    with pytest.raises(InvalidInputError):
        file_names(["a", topic])


@relaxed
@given(possible_names, possible_names)
def test_two_names_are_never_one_topic(one: str, other: str) -> None:
    assert (topic_of(one) == topic_of(other)) == (one == other)


@relaxed
@given(topics)
def test_a_new_topic_is_a_slug_and_stays_what_it_is(text: str) -> None:
    try:
        topic = new_topic(text)
    except InvalidInputError:
        topic = nearest_slug(text)
        if not topic:
            return
    assert is_slug(topic)
    assert new_topic(topic) == topic
    assert file_name(topic) == topic == topic_of(topic)


@pytest.mark.parametrize(
    ("text", "near"),
    [
        ("../../x", "x"),
        ("../../etc/passwd", "etc-passwd"),
        ("/abs/olute", "abs-olute"),
        ("a\\b", "a-b"),
        ("", ""),
        (" ", ""),
        ("...", ""),
        (".", ""),
        ("..", ""),
        ("-", ""),
        ("a b", "a-b"),
        ("a  --  b", "a-b"),
        (" a ", "a"),
        ("-rf", "rf"),
        (".hidden", "hidden"),
        ("end.", "end"),
        ("x" * 101, "x" * 100),
        ("x" * 300, "x" * 100),
        ("é" * 51, "é" * 50),
        ("🎾", ""),
        ("go 🎾 go", "go-go"),
        ("a\tb\nc\0d\x7fe", "a-b-c-d-e"),
        ("abc\u202edef", "abc-def"),
        ("a\u200bb", "a-b"),
        ("CON", ""),
        ("nul", ""),
        (".git", "git"),
        (".local", "local"),
        ("\ud800", ""),
        ("a\udcffb", "a-b"),
        ("\u0301accent", "accent"),
        ("\u0301-", ""),
        ("100%", "100"),
        ("%2E%2E", "2e-2e"),
    ],
)
def test_what_cannot_be_a_topic_is_refused_with_the_nearest_that_can(
    text: str, near: str
) -> None:
    with pytest.raises(InvalidInputError) as caught:
        new_topic(text)
    assert nearest_slug(text) == near
    assert caught.value.hint.startswith(f'Try "{near}". ' if near else "A topic is")
    assert str(MAX_TOPIC_BYTES) in caught.value.hint
    assert len(caught.value.message) < 700
    caught.value.message.encode()  # can be printed


def test_a_foreign_name_too_long_or_not_escaped_our_way_is_not_a_topic() -> None:
    for topic in ("%61" + "a" * 255, "%6", "%zz", "%2e", "a%20b%", "%41", "a%2Db"):
        with pytest.raises(InvalidInputError) as caught:
            file_name(topic)
        assert "wc list" in caught.value.hint


@relaxed
@given(topics, topics)
@example("a" * 300, "a" * 301)
@example("", "%")
def test_our_own_files_can_be_named_after_anyone(one: str, other: str) -> None:
    name = safe_name(one)
    assert name not in {"", ".", ".."}
    assert not {"/", "\0", "\n"} & set(name)
    assert len(os.fsencode(name)) <= MAX_SAFE_BYTES
    assert (name == safe_name(other)) == (one == other)


def test_pages_are_where_an_older_tool_has_put_them(tmp_path: Path) -> None:
    layout, reader = Layout(str(tmp_path)), StoreReader(str(tmp_path))
    page = "# {} — Thread\nStatus: OPEN\nBall: Codex\n"
    assert layout.pages == f"{tmp_path}/threads"
    (tmp_path / "README.md").write_text("# About\n")
    (tmp_path / "guidance.md").write_text("Status: fine\n")
    assert layout.pages == f"{tmp_path}/threads"
    (tmp_path / "first.md").write_text(page)
    assert layout.page("new") == f"{tmp_path}/new.md"
    assert layout.page("guidance") == f"{tmp_path}/.local/guidance.md"
    assert layout.page("README") == f"{tmp_path}/.local/README.md"
    assert reader.topics() == ["first"]
    assert not reader.has("guidance")
    (tmp_path / "watercooler/threads").mkdir(parents=True)
    (tmp_path / "watercooler/threads/second.md").write_text(page)
    assert layout.page("new") == f"{tmp_path}/watercooler/threads/new.md"
    assert reader.topics() == ["second"]
    # Another tool, or an earlier version, has begun to use the usual place.
    (tmp_path / "threads").mkdir()
    (tmp_path / "threads/third.md").write_text(page)
    assert layout.page("third") == f"{tmp_path}/threads/third.md"
    assert layout.page("new") == f"{tmp_path}/watercooler/threads/new.md"
    assert reader.topics() == ["second", "third"]
    states = [reader.snapshot(topic).state for topic in reader.topics()]
    assert {state.ball for state in states} == {"Codex"}
