"""Names and text that nobody writes in good faith, by the whole way in: each
is taken exactly as it is, or refused with a hint, and nothing else happens."""

from __future__ import annotations

import json
import os
import shutil
import unicodedata
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tests.contract.fuzzer import helpful
from tests.contract.inprocess import surroundings, wc
from tests.contract.mutants import PIECES
from tests.observe.stores import Session
from wc_cli.ledger.store import writer as store
from wc_core.base.errors import InvalidInputError
from wc_core.base.layout import Layout, file_name, new_topic, topic_of
from wc_core.base.names import Name
from wc_core.ledger.git import discovery
from wc_core.ledger.threads import codec, proposals
from wc_core.ledger.threads.settings import Settings
from wc_core.people.identity import resolve

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.conftest import Repo

quick = settings(
    max_examples=12, deadline=None, suppress_health_check=list(HealthCheck)
)
many = settings(quick, max_examples=150)

TOPIC_PIECES = (
    *PIECES,
    *("con", "NUL", "aux.md", "com1", "prn.txt", ".git", ".local", "-rf", "--json"),
    *("a" * 101, "x" * 5000, "Login", "LOGIN", "login.", "STRASSE", "straße"),
    *("e\u0301te\u0301", "été", "\u212b", "Å", "a\u0345\u0301", "ΐ", "Ϊ\u0301", "ŉ"),
)
topics = st.text(max_size=12) | st.lists(
    st.sampled_from(TOPIC_PIECES) | st.text(st.characters(exclude_categories=())),
    max_size=4,
).map("".join)
# All that a log can hold.
texts = st.lists(
    st.sampled_from(PIECES) | st.text(max_size=20), max_size=12
).map(lambda parts: "".join(parts).encode(errors="ignore").decode())  # fmt: skip

WRITING = (
    ("say", "--title", "T", "--new"),
    ("new", "--title", "T"),
    ("ack",),
    ("handoff", "--to", "anyone"),
    ("take", "--reason", "r"),
    ("set-status",),
)
READING = (("read",), ("read", "--peek", "--new"), ("read", "--seen"))
SETTLED = ("", "meta.json", "entries.jsonl")


@contextmanager
def a_store() -> Iterator[tuple[Path, dict[str, str]]]:
    """A folder with a store that has one thread, ``there``."""
    with TemporaryDirectory() as name:
        folder = Path(os.path.realpath(name))
        env = surroundings(folder, folder / "store")
        assert wc(["new", "there", "--title", "T"], folder, env).code == 0
        yield folder, env


def tree(folder: Path) -> set[str]:
    return {str(one.relative_to(folder)) for one in folder.rglob("*")}


def threads(folder: Path) -> list[str]:
    return sorted(os.listdir(Layout(str(folder / "store")).threads))


def ours(path: str, name: str) -> bool:
    """Whether a path is one that a write to the thread ``name`` may make."""
    if path.startswith("store/graph/baseline/threads/"):
        inside = path.removeprefix("store/graph/baseline/threads/")
        folder, _, file = inside.partition("/")
        return folder == name and file in SETTLED
    known = ("locks/threads/", "unsettled/", "cursors/", "status/", "me/")
    rest = path.removeprefix("store/.local/")
    return rest.startswith(known) and (
        name in rest or "status/" in rest or "me/" in rest
    )


# --- topics -------------------------------------------------------------------


@quick
@given(topics, st.sampled_from(WRITING + READING))
@example("../../outside", WRITING[0])
@example("/etc/passwd", WRITING[1])
@example("..", READING[0])
@example("a\0b", WRITING[0])
@example("\ud800", WRITING[0])
@example("%2E%2E", WRITING[1])
@example("COM1", WRITING[1])
@example("THERE", WRITING[2])
@example("", WRITING[1])
def test_a_topic_is_one_thread_or_refused(topic: str, command: tuple[str, ...]) -> None:
    with a_store() as (folder, env):
        before = tree(folder)
        rest = ["BLOCKED"] if command[0] == "set-status" else []
        words = [*command, "--json", "--", topic, *rest]
        done = wc(words, folder, env)
        made = tree(folder) - before
        if done.code:
            assert done.code in {2, 3, 4}, done
            assert done.error["hint"], done
            assert done.error["code"] in {"INVALID_INPUT", "NOT_FOUND", "CONFLICT"}
            assert threads(folder) == ["there"]
            assert not made or all("/.local/" in f"/{one}" for one in made)
            return
        if command in READING:
            assert threads(folder) == ["there"]
            return
        said = done.json["topic"]
        name = file_name(said)
        assert topic_of(name) == said
        assert threads(folder) == sorted({"there", name})
        assert all(ours(one, name) for one in made), made
        again = wc([*READING[0], "--json", "--", topic], folder, env)
        assert again.json["topic"] == said


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Session:
    folder = tmp_path_factory.mktemp("served")
    env = surroundings(folder, folder / "store")
    assert wc(["new", "there", "--title", "T"], folder, env).code == 0
    return Session(folder, env)


@quick
@given(topics, st.sampled_from([{}, {"entry": "0"}]))
@example("../there", {})
@example("there/../there", {"entry": "0"})
def test_the_server_finds_the_thread_or_says_there_is_none(
    served: Session, topic: str, more: dict[str, str]
) -> None:
    before = tree(served.folder)
    # Nothing else can come over the wire.
    topic = topic.encode(errors="replace").decode()
    if topic.casefold() == "there":
        served.text("read_thread", topic=topic, **more)
    else:
        told = served.error("read_thread", topic=topic, **more)
        assert told["code"] in {"INVALID_INPUT", "NOT_FOUND"}
        assert told["hint"]
    assert tree(served.folder) == before


def on_disk(topic: str) -> str:
    """A file name as a file system without cases and forms compares it."""
    name = unicodedata.normalize("NFD", file_name(topic))
    return unicodedata.normalize("NFD", name.casefold())


@many
@given(topics, topics, st.sampled_from([str.upper, str.lower, str.title, str.swapcase]))
@example("straße", "STRASSE", str.upper)
@example("ẞ", "ß", str.lower)
@example("İ", "i\u0307", str.lower)
@example("e\u0301", "é", str.upper)
@example("a\u0345\u0301", "a\u0301\u0345", str.upper)
def test_two_new_topics_never_share_a_file_on_any_file_system(
    one: str, other: str, change: Any
) -> None:
    spellings = [one, other, change(one)]
    spellings += [unicodedata.normalize(form, one) for form in ("NFC", "NFD", "NFKC")]
    found: dict[str, str] = {}
    for text in spellings:
        try:
            topic = new_topic(text)
        except InvalidInputError as error:
            helpful(error)
            continue
        assert found.setdefault(on_disk(topic), topic) == topic
        assert topic.partition(".")[0] not in {"con", "nul", "aux", "prn", "com1"}


def test_a_device_of_windows_is_no_new_topic_but_an_old_one_stays(repo: Repo) -> None:
    repo.ok("new", "there", "--title", "T")
    hint = repo.fails(2, "new", "COM1", "--title", "T")
    assert "cannot be a topic" in hint
    shutil.copytree(repo.log("there").parent, repo.log("com1").parent)
    assert repo.json("say", "com1", "--title", "T")["topic"] == "com1"


# --- text ---------------------------------------------------------------------


def writer(folder: Path, agent: str, branch: str) -> store.StoreWriter:
    env = surroundings(folder, folder / "store")
    place = discovery.find(str(folder), env)
    who = resolve.Identity(Name(agent, "", "pat"), "test")
    author = store.Author(who, branch, "c0ffee")
    return store.StoreWriter(place, author, Settings(), env)


class Source:
    """A clock that goes on, and dice."""

    now = 1_767_225_600_000

    def __call__(self) -> int:
        self.now += 1
        return self.now


def restored(folder: Path, topic: str) -> bytes:
    """The log that repair makes of the page, once nothing else is left."""
    layout = Layout(str(folder / "store"))
    shutil.rmtree(layout.folder(topic))
    env = surroundings(folder, folder / "store")
    done = wc(["doctor", "--repair", "--json"], folder, env)
    assert done.code == 0, done
    return Path(layout.log(topic)).read_bytes()


@settings(quick, max_examples=5)
@given(st.lists(st.tuples(texts, texts, texts, texts), min_size=1, max_size=3))
@example([("---\nEntry: Boss 2026-01-01T00:00:00Z\n\nx\n", "t", "a", "b")])
@example([("<!-- wc closed {} -->\n<!-- Entry-ID: x -->\n", "-->", "x\n---", "")])
@example(
    [("\\" * 999 + "---\nEntry: x", " t ", "a\tb", "main"), ("\n" * 9, "", "", "")]
)
@example([("x\r\ny\r\n", "a\r", "\ufeff", "\u202e"), ("  \n x  ", "\0", "\x1b[2J", "")])
def test_all_text_is_in_the_log_and_comes_back_from_the_page(
    entries: list[tuple[str, str, str, str]],
) -> None:
    with TemporaryDirectory() as name:
        folder = Path(os.path.realpath(name))
        source = store.IdSource(Source(), lambda: 7)
        for body, title, agent, branch in entries:
            draft = proposals.Draft(
                "there", "say", title, body, reason=agent, key=branch, force=True
            )  # fmt: skip
            writer(folder, agent or "x", branch).write(draft, source)
        env = {**surroundings(folder, folder / "store"), "WATERCOOLER_SYNC": "inline"}
        assert wc(["ack", "there"], folder, env).code == 0
        path = Path(Layout(str(folder / "store")).log("there"))
        data = path.read_bytes()
        # One line each to whoever reads it, whatever they take for its end.
        lines = [json.loads(line) for line in data.decode().splitlines()][:-1]
        written: dict[str, tuple[str, ...]] = {}
        for body, title, agent, branch in entries:
            # An entry with a key that was used is not written again.
            written.setdefault(
                branch or str(len(written)), (body, title, agent, branch)
            )
        names = ("body", "title", "reason", "code_branch")
        found = [tuple(line.get(one, "") for one in names) for line in lines]
        assert found == [*written.values()]
        shown = wc(["read", "there", "--peek", "--json"], folder, env).json["entries"]
        assert [one["body"] for one in shown[:-1]] == [one[0] for one in found]
        assert restored(folder, "there") == data


@pytest.mark.parametrize(
    "body",
    [
        *("\n" * 400, " ", "x  \n\t\n", "\ufeffx", "a\0b", "a\r", "a\rb\r\nc"),
        *(
            "é\u2028\u2029\x85",
            "\x1b]52;c;x\x07",
            "x" * 2**20,
            "---\nEntry: x\n" * 9999,
        ),
        *("\\" * 2**17, "<!--" * 2**15, "```\n" * 9999, "-->\n<!-- wc {} -->\n" * 999),
    ],
    ids=lambda body: repr(body[:12]),
)
def test_a_body_from_standard_input_comes_back_from_the_page(body: str) -> None:
    with TemporaryDirectory() as name:
        folder = Path(os.path.realpath(name))
        env = {**surroundings(folder, folder / "store"), "WATERCOOLER_SYNC": "inline"}
        words = ["say", "there", "--title", "T", "--body", "-"]
        assert wc(words, folder, env, body.encode()).code == 0
        data = Path(Layout(str(folder / "store")).log("there")).read_bytes()
        [entry] = codec.read_log("there", data).entries
        assert entry.body == body
        assert restored(folder, "there") == data


@pytest.mark.parametrize("word", ["--title", "--reason", "--key", "--as", "--to"])
@pytest.mark.parametrize(
    "text", ["a\nb", "\x1b[31mx", "\x9bx", "\u202ex", "\udcff", "\x7f"]
)
def test_what_must_be_one_printable_line_is_refused_otherwise(
    word: str, text: str
) -> None:
    with a_store() as (folder, env):
        log = Path(Layout(str(folder / "store")).log("there"))
        before = log.read_bytes()
        command = ["take", "there", "--reason", "r"] if word == "--reason" else [
            "say", "there", "--title", "T", "--force",
        ]  # fmt: skip
        done = wc([*command, word, text, "--json"], folder, env)
        assert done.code == 2, done
        assert done.error["hint"]
        assert log.read_bytes() == before
