"""What docs/api.md promises: names stay, parameters and fields may be added."""

from __future__ import annotations

import inspect
from importlib import import_module
from typing import Any

import pytest

from tests.conftest import SOURCE, Repo
from wc_cli.posting import post
from wc_core.errors import InvalidInputError
from wc_core.identity import Asked
from wc_core.moves import Draft

# Not what the page is made of: this is the promise that it must not fall behind.
TAKES = {
    "wc_core.discovery.find": "cwd env *missing_ok",
    "wc_core.reader.StoreReader": "root",
    "wc_core.reader.StoreReader.topics": "",
    "wc_core.reader.StoreReader.has": "topic",
    "wc_core.reader.StoreReader.snapshot": "topic",
    "wc_core.reader.StoreReader.thread": "topic",
    "wc_cli.posting.post": "draft asked *folder *env *sync",
    "wc_cli.store.Receipt.to_json": "",
    "wc_core.moves.Draft": "topic action title body role type to status reason key "
    "if_ball if_last force reopen new",
    "wc_core.identity.Asked": "name seat",
    "wc_core.errors.WcError": "message hint",
}
HAS = {
    "wc_core.discovery.Place": "kind root exists branch_exists",
    "wc_core.reader.Snapshot": "state damage topic",
    "wc_core.reader.Thread": "entries state damage",
    "wc_core.model.State": "topic title status ball since entry_count last_id "
    "created_at updated_at updated_by branch heads forked",
    "wc_core.model.Entry": "id topic agent at title body role type action ball status "
    "parents file_refs pr_refs commit_refs code_branch code_commit key reason",
    "wc_core.model.Ball": "holder",
    "wc_core.codec.Damage": "file line kind message lost place",
    "wc_cli.store.Receipt": "topic entry_id idx ball previous_ball status committed "
    "pushed notes",
    "wc_core.errors.WcError": "code exit_code",
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
