"""``--file PATH:LINE``: lines of files that an entry is about."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

from tests.contract.inprocess import Here
from tests.observe.web.pages import Site, words
from wc_core.base.errors import InvalidInputError
from wc_core.ledger.threads.linerefs import LineRef, split_place
from wc_core.ledger.threads.vocabulary import line_refs

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Machine

LINES = [f"line {number}" for number in range(1, 21)]


@pytest.fixture
def here(machine: Machine) -> Here:
    here = Here(machine, machine.repo().path)
    write(here.path / "a.py", LINES)
    here.git("add", "a.py")
    here.git("commit", "-qm", "a")
    here.ok("new", "login", "--title", "T")
    return here


def write(path: Path, lines: list[str]) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join(f"{line}\n" for line in lines))


def refs(here: Here, *places: str, **how: Any) -> list[dict[str, Any]]:
    """The references of an entry about these places."""
    options = [word for place in places for word in ("--file", place)]
    here.ok("ack", "login", "--title", "x", *options, **how)
    entry: dict[str, Any] = here.json("read", "login", "--peek")["entries"][-1]
    found: list[dict[str, Any]] = entry.get("line_refs", [])
    return found


@pytest.mark.parametrize(
    ("place", "start", "end", "first", "count"),
    [
        ("a.py:12", 12, 12, 9, 7),
        ("a.py:1", 1, 1, 1, 7),
        ("a.py:20", 20, 20, 17, 4),
        ("a.py:10-12", 10, 12, 8, 7),
        ("a.py:5-19", 5, 19, 5, 7),
    ],
)
def test_the_lines_around_are_kept(
    here: Here, place: str, start: int, end: int, first: int, count: int
) -> None:
    quote = "\n".join(LINES[first - 1 : first - 1 + count])
    assert refs(here, place) == [
        {"path": "a.py", "start": start, "end": end, "first": first, "quote": quote}
    ]


def test_a_place_is_shown_with_its_lines(here: Here) -> None:
    assert len(refs(here, "a.py:12", "code.txt", "a.py:3-4")) == 2
    shown = here.ok("read", "login").out
    assert "about: a.py:12, a.py:3-4, code.txt" in shown
    assert "    > 12  line 12\n      13  line 13\n" in shown
    entry = here.json("read", "login")["entries"][-1]
    assert entry["file_refs"] == ["a.py", "code.txt"]
    # Who asks for the file finds it.
    assert here.json("search", "--file", "a.py")["hits"]


def test_the_page_shows_the_lines(here: Here) -> None:
    write(here.path / "a.py", ["<b>", "x" * 300])
    refs(here, "a.py:1")
    page = Site(here.path, here.machine.env).get("threads/login")
    assert re.search(r"<mark>    1  (<[^>]*>)*&lt;(<[^>]*>)*b", page)
    assert "x" * 200 in page
    assert "x" * 201 not in page
    assert "a.py:1" in words(page)


def test_the_path_is_that_of_the_repository(here: Here) -> None:
    write(here.path / "src/b.py", LINES)
    assert refs(here, "b.py:2", cwd="src")[0]["path"] == "src/b.py"
    assert refs(here, "../a.py:2", cwd="src")[0]["path"] == "a.py"
    assert refs(here, f"{here.path}/a.py:2")[0]["path"] == "a.py"


def test_what_is_not_a_line_of_the_repository_is_refused(here: Here) -> None:
    for place, message in (
        ("a.py:0", "names no lines"),
        ("a.py:5-4", "names no lines"),
        ("a.py:21", "a.py has 20 lines, so there is no line 21"),
        ("absent.py:1", "There is no file 'absent.py' here"),
        ("../outside.py:1", "is not a file of this repository"),
        ("/etc/passwd:1", "is not a file of this repository"),
        (".git/config:1", "is not a file of this repository"),
    ):
        error = here.fails(2, "ack", "login", "--title", "x", "--file", place)
        assert message in error
        assert len(here.json("read", "login")["entries"]) == 1


def test_what_only_looks_like_a_line_is_a_path(here: Here) -> None:
    assert refs(here, "a.py", "main.c:foo", "a:b") == []
    write(here.path / "odd:12", LINES)
    assert refs(here, "odd:12") == []
    assert here.json("read", "login")["entries"][-1]["file_refs"] == ["odd:12"]


def test_secrets_and_ignored_files_are_not_quoted(here: Here, tmp_path: Path) -> None:
    write(here.path / ".env", ["KEY=1"])
    write(here.path / ".gitignore", ["local.py"])
    write(here.path / "local.py", ["KEY=2"])
    (here.path / "image.py").write_bytes(b"a\0b\n")
    write(tmp_path / "outside.py", ["KEY=3"])
    (here.path / "link.py").symlink_to(tmp_path / "outside.py")
    for name in (".env", "local.py", "image.py"):
        assert refs(here, f"{name}:1") == [{"path": name, "start": 1, "end": 1}]
    error = here.fails(2, "ack", "login", "--title", "x", "--file", "link.py:1")
    assert "There is no file" in error
    # What is new and not ignored is.
    write(here.path / "new.py", ["x = 1"])
    assert refs(here, "new.py:1")[0]["quote"] == "x = 1"


def test_the_lines_are_those_of_the_work_that_is_reviewed(here: Here) -> None:
    author = here.worktree("fix")
    write(author.path / "a.py", ["fixed", *LINES])
    author.ok("say", "login", "--title", "See", "--to", "Pat", "--as", "Codex")
    assert refs(here, "a.py:1")[0]["quote"].startswith("fixed\nline 1")
    # A branch that is no longer in any worktree.
    author.git("commit", "-qam", "fixed")
    here.git("worktree", "remove", str(author.path))
    here.git("rm", "-q", "a.py")
    assert refs(here, "a.py:1")[0]["quote"].startswith("fixed\nline 1")


def test_an_author_speaks_of_lines_that_only_they_have(here: Here) -> None:
    author = here.worktree("fix")
    author.ok("say", "login", "--title", "See", "--to", "Pat", "--as", "Codex")
    write(here.path / "a.py", [*LINES, "line 21"])
    (found,) = refs(here, "a.py:21")
    assert found["quote"].endswith("line 21")
    assert "so there is no line 22" in here.fails(
        2, "ack", "login", "--title", "x", "--file", "a.py:22"
    )


def test_a_retracted_entry_is_about_no_lines(here: Here) -> None:
    refs(here, "a.py:1")
    here.ok("retract", "login")
    assert "line_refs" not in here.json("read", "login")["entries"][-1]


@pytest.mark.parametrize(
    ("written", "split"),
    [
        ("a.py:1", ("a.py", 1, 1)),
        ("a:b.py:1-2", ("a:b.py", 1, 2)),
        ("a.py:-1", ("a.py:-1", 0, 0)),
        ("a.py:1-", ("a.py:1-", 0, 0)),
        ("a.py:1-2-3", ("a.py:1-2-3", 0, 0)),
        (":1", (":1", 0, 0)),
        ("a.py:\u0661", ("a.py:\u0661", 0, 0)),
        (f"a.py:{'9' * 5000}", (f"a.py:{'9' * 5000}", 0, 0)),
    ],
)
def test_a_place_is_split(written: str, split: tuple[str, int, int]) -> None:
    assert split_place(written) == split


@pytest.mark.parametrize(
    "wrong",
    [
        LineRef("a", 0, 1),
        LineRef("a", 2, 1),
        LineRef("a", 1, 1, 1, "x" * 201),
        LineRef("a", 1, 1, 1, "\n" * 7),
        LineRef("", 1, 1),
    ],
)
def test_programs_cannot_write_other_references(wrong: LineRef) -> None:
    with pytest.raises(InvalidInputError):
        line_refs([wrong])


def test_nothing_is_quoted_through_a_link_to_what_is_private(here: Here) -> None:
    for name in (".env", "ignored", "plain"):
        (here.path / name).write_text("password\n")
        (here.path / f"to-{name}").symlink_to(name)
    (here.path / ".gitignore").write_text("ignored\n")
    (here.path / "to-git").symlink_to(".git/config")
    found = {
        ref["path"]: ref.get("quote", "")
        for name in ("to-.env", "to-ignored", "to-git", "to-plain")
        for ref in refs(here, f"{name}:1")
    }
    assert found == {
        **dict.fromkeys(("to-.env", "to-ignored", "to-git"), ""),
        "to-plain": "password",
    }
