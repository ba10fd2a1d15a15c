"""What docs/api.md promises: names stay, parameters and fields may be added."""

from __future__ import annotations

import inspect
from importlib import import_module
from typing import Any

import pytest

from tests.conftest import SOURCE, Repo
from wc_cli.posting import Receipt, post
from wc_core import api
from wc_core.api import Asked, Draft, InvalidInputError, WcError

# Not what the page is made of: this is the promise that it must not fall behind.
TAKES = {
    "wc_core.api.find": "cwd env *missing_ok",
    "wc_core.api.StoreReader": "root",
    "wc_core.api.StoreReader.topics": "",
    "wc_core.api.StoreReader.has": "topic",
    "wc_core.api.StoreReader.snapshot": "topic",
    "wc_core.api.StoreReader.thread": "topic",
    "wc_cli.posting.post": "draft asked *folder *env *sync",
    "wc_cli.posting.Receipt.to_json": "",
    "wc_core.api.Draft": "topic action title body role type to status reason key "
    "if_ball if_last force reopen new",
    "wc_core.api.Asked": "name seat",
    "wc_core.api.WcError": "message hint",
}
HAS = {
    "wc_core.api.Place": "kind root exists branch_exists",
    "wc_core.api.Snapshot": "state damage topic",
    "wc_core.api.Thread": "entries state damage",
    "wc_core.api.State": "topic title status ball since entry_count last_id "
    "created_at updated_at updated_by branch heads forked",
    "wc_core.api.Entry": "id topic agent at title body role type action ball status "
    "parents file_refs pr_refs commit_refs code_branch code_commit key reason",
    "wc_core.api.Ball": "holder",
    "wc_core.api.Damage": "file line kind message lost place",
    "wc_cli.posting.Receipt": "topic entry_id idx ball previous_ball status committed "
    "pushed notes",
    "wc_core.api.WcError": "code exit_code",
}
PAGE = (SOURCE.parent / "docs/api.md").read_text(encoding="utf-8")


def thing(path: str) -> Any:
    """What is at a dotted path: in a module, or in a class of one."""
    module, _, name = path.rpartition(".")
    if module.rpartition(".")[2][0].isupper():
        return getattr(thing(module), name)
    return getattr(import_module(module), name)


@pytest.mark.parametrize("path", TAKES)
def test_what_is_called_takes_what_it_took(path: str) -> None:
    found = [*inspect.signature(thing(path)).parameters.values()]
    found = [one for one in found if one.name != "self"]
    said = TAKES[path].split()
    by_place = [one.name for one in found if one.kind is one.POSITIONAL_OR_KEYWORD]
    assert by_place[: len(said)] == [one for one in said if one[0] != "*"]
    by_name = {one.name for one in found if one.kind is one.KEYWORD_ONLY}
    assert by_name >= {one[1:] for one in said if one[0] == "*"}
    known = {one.removeprefix("*") for one in said}
    added = [one for one in found if one.name not in known]
    assert all(one.default is not one.empty for one in added)


@pytest.mark.parametrize("path", HAS)
def test_a_value_has_what_it_had(path: str) -> None:
    missing = [one for one in HAS[path].split() if not hasattr(thing(path), one)]
    assert missing == []


@pytest.mark.parametrize("path", [*TAKES, *HAS])
def test_the_page_has_what_is_promised(path: str) -> None:
    module, _, name = path.rpartition(".")
    if module.rpartition(".")[2][0].isupper():
        assert f"**`.{name}" in PAGE
    else:
        assert f"### {path}\n" in PAGE


def test_nothing_is_written_that_the_command_would_not_write(repo: Repo) -> None:
    env = {**repo.machine.env, "PATH": repo.machine.env["PATH"]}
    wrong = [
        Draft("login", "shout", "A title"),
        Draft("login", "say", "Two\nlines"),
        Draft("login", "say", "A title", role="king"),
        Draft("login", "say", "A title", body="\udc80"),
        Draft("login", "say", "A title", file_refs=("two\nlines",)),
        Draft("login", "say", "A title", pr_refs=(-1,)),
        Draft("login", "say", "A title", commit_refs=("HEAD",)),
    ]
    for draft in wrong:
        with pytest.raises(InvalidInputError):
            post(draft, Asked("Codex"), folder=str(repo.path), env=env)
    assert repo.json("list")["threads"] == []


def test_words_are_spelt_as_the_command_spells_them(repo: Repo) -> None:
    draft = Draft("login", "say", " Ready ", role="Critic", status="in-review")
    receipt = post(draft, Asked("codex"), folder=str(repo.path), env=repo.machine.env)
    (entry,) = repo.json("read", "login")["entries"]
    assert (receipt.idx, receipt.status) == (0, "IN_REVIEW")
    assert (entry["title"], entry["role"]) == ("Ready", "critic")
    assert entry["author"] == "Codex (Pat)"


def test_a_post_may_say_what_it_is_about(repo: Repo) -> None:
    draft = Draft("login", "say", "Ready", summary="All of it", pr_refs=(12,))
    draft = draft._replace(file_refs=("./src/a.py",), commit_refs=("ABCD1",))
    post(draft, folder=str(repo.path), env=repo.machine.env)
    (entry,) = repo.entries("login")
    assert (entry["summary"], entry["file_refs"]) == ("All of it", ["src/a.py"])
    assert (entry["pr_refs"], entry["commit_refs"]) == ([12], ["abcd1"])


def test_the_facade_has_every_error_and_nothing_inside_imports_it() -> None:
    tree = {WcError.__name__, *(error.__name__ for error in WcError.__subclasses__())}
    assert tree <= set(api.__all__)
    sources = SOURCE.rglob("*.py")
    users = [path for path in sources if "wc_core.api" in path.read_text("utf-8")]
    assert [path.name for path in users] == []


def test_a_reader_follows_what_a_writer_posts(repo: Repo) -> None:
    env = dict(repo.machine.env)
    receipt = post(
        Draft("login", "say", "Hi"), Asked("CI"), folder=str(repo.path), env=env
    )
    assert isinstance(receipt, Receipt)
    place = api.find(str(repo.path), env)
    thread = api.StoreReader(place.root).thread("login")
    assert [entry.id for entry in thread.entries] == [receipt.entry_id]
