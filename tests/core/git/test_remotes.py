"""Which remote a store travels to: rules, by real repositories."""

from __future__ import annotations

import subprocess
import time
from typing import TYPE_CHECKING

import pytest

from tests.core.strategies import Git
from wc_core.ledger.git import remotes, repository

if TYPE_CHECKING:
    from pathlib import Path

    from wc_core.ledger.git.remotes import Remote
    from wc_core.ledger.git.repository import Repository

BRANCH = "watercooler/threads"


class Place:
    """A repository, and the remotes that it has."""

    def __init__(self, folder: Path) -> None:
        self.git = Git(folder / "home")
        self.top = self.git.repository(folder / "home/work/repo")

    def remote(self, name: str, url: str = "", *, fetched: bool = False) -> None:
        self.git(self.top, "config", f"remote.{name}.url", url or f"/hub/{name}.git")
        if fetched:
            ref = f"refs/remotes/{name}/{BRANCH}"
            self.git(self.top, "update-ref", ref, "HEAD")

    @property
    def where(self) -> Repository:
        found = repository.find(str(self.top))
        assert found is not None
        return found

    def found(self, **env: str) -> Remote | None:
        return remotes.find(self.where, {**self.git.env, **env})

    def name(self, **env: str) -> str:
        found = self.found(**env)
        return found.name if found else ""


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


@pytest.mark.parametrize(
    ("known", "fetched", "chosen"),
    [
        ("", "", ""),
        ("origin", "", "origin"),
        ("team", "", "team"),
        ("origin team", "", "origin"),
        ("team upstream", "", ""),
        ("team upstream", "upstream", "upstream"),
        ("team upstream", "upstream team", "team"),
        ("origin team", "team", "team"),
        ("origin team", "team origin", "origin"),
        ("team/a team", "team/a", "team/a"),
        ("team/a team", "", ""),
    ],
)
def test_of_several_remotes_the_one_with_the_branch_is_it(
    place: Place, known: str, fetched: str, chosen: str
) -> None:
    for name in known.split():
        place.remote(name, fetched=name in fetched.split())
    assert place.name() == chosen
    place.git(place.top, "pack-refs", "--all")
    assert place.name() == chosen


def test_a_remote_that_is_gone_leaves_refs_that_say_nothing(place: Place) -> None:
    place.remote("team", fetched=True)
    place.git(place.top, "config", "--unset", "remote.team.url")
    assert place.name() == ""
    place.remote("origin")
    assert place.name() == "origin"


def test_a_configured_remote_wins(place: Place) -> None:
    for name in ("origin", "team", "dedicated"):
        place.remote(name, fetched=name == "origin")
    key = f"branch.{BRANCH}.remote"
    place.git(place.top, "config", key, "team")
    assert place.name() == "team"
    assert place.name(WATERCOOLER_GIT_REPO="dedicated") == "dedicated"
    assert place.name(WATERCOOLER_GIT_REPO="") == "team"
    for nobody in (".", "gone"):
        place.git(place.top, "config", key, nobody)
        assert place.name() == "origin"
    place.git(place.top, "config", key, "/hub/else.git")
    assert place.name() == "/hub/else.git"


def test_all_configuration_of_git_counts(place: Place) -> None:
    (place.git.home / ".gitconfig").write_text('[remote "mine"]\nurl = /hub/x\n')
    env = {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "remote.team.URL"}
    assert place.name() == "mine"
    assert place.name(**env, GIT_CONFIG_VALUE_0="/hub/t") == ""
    place.git(place.top, "config", "remote.team.url", "")  # undoes nothing here
    listed = remotes.names(place.where, place.git.env)
    assert listed == ["mine"]


@pytest.mark.parametrize(
    ("said", "name", "shown"),
    [
        ("https://h/x.git", "", "https://h/x.git"),
        ("https://token@h/x.git", "", "https://h/x.git"),
        ("https://pat:pw@h:8443/x.git", "", "https://h:8443/x.git"),
        ("https://pat:p/w?#@h/x.git", "", "https://h/x.git"),
        ("https://pat:'w\"@h/x.git", "", "https://h/x.git"),
        ("https://h/x.git?private_token=t#f", "", "https://h/x.git"),
        ("https://h/@scope/x.git", "", "https://h/@scope/x.git"),
        ("https://h:80/@scope/x.git", "", "https://h:80/@scope/x.git"),
        ("ssh://git@h:22/x.git", "", "ssh://git@h:22/x.git"),
        ("ssh://git:pw@h/x.git", "", "ssh://git@h/x.git"),
        ("git@h:pat/x.git", "", "git@h:pat/x.git"),
        ("file:///hub/x.git", "", "file:///hub/x.git"),
        ("ext::sh -c x", "", "ext::sh -c x"),
        ("/hub/a@b?c.git", "", "/hub/a@b?c.git"),
        ("/hub/\x1b[31mred", "", "/hub/red"),
        ("~/x.git", "{home}/x.git", "~/x.git"),
        ("{home}/x.git", "", "~/x.git"),
        ("../x.git", "{home}/work/x.git", "~/work/x.git"),
        ("./x.git", "{home}/work/repo/x.git", "~/work/repo/x.git"),
        ("sub/x.git", "{home}/work/repo/sub/x.git", "~/work/repo/sub/x.git"),
        ("misspelt", "", "misspelt"),
    ],
)
def test_an_address_is_shown_without_its_secrets(
    place: Place, said: str, name: str, shown: str
) -> None:
    home = str(place.git.home)
    said, name = said.format(home=home), name.format(home=home)
    found = place.found(WATERCOOLER_GIT_REPO=said)
    assert found is not None
    assert (found.name, found.label) == (name or said, shown)
    assert found.tracking.startswith("refs/watercooler/")
    place.git(place.top, "check-ref-format", found.tracking)


def test_each_address_has_a_ref_of_its_own_whatever_its_password(place: Place) -> None:
    said = ("https://h/x", "https://h/y", "https://a:b@h/x", "https://c@h/x")
    x, y, *others = (place.found(WATERCOOLER_GIT_REPO=one) for one in said)
    assert x
    assert y
    assert all(others)
    assert x.tracking != y.tracking
    assert {one.tracking for one in others if one} == {x.tracking}


@pytest.mark.parametrize(
    "name", ["plain", "team/a", "Team.x", "-dash", "é", "a b", "a..b", "a~1", "x.lock",
             ".x", "a/.b", "a:b", "https://h/x", "a*", "a[b", "a\\b", "end.", "a@{b"]
)  # fmt: skip
def test_every_remote_has_a_ref_that_git_takes(place: Place, name: str) -> None:
    text = name.replace("\\", "\\\\")
    with (place.top / ".git/config").open("a") as file:
        file.write(f'[remote "{text}"]\n\turl = /hub/x.git\n')
    found = place.found()
    assert found is not None
    assert found.name == name
    place.git(place.top, "check-ref-format", found.tracking)
    done = subprocess.run(
        ["git", "check-ref-format", f"refs/remotes/{name}/{BRANCH}"], check=False
    )
    assert found.tracking.startswith("refs/remotes/") is not bool(done.returncode)


@pytest.mark.parametrize("piece", ["x", "x:", "x:/", "a-b."])
def test_a_long_word_that_is_not_a_url_takes_one_pass(piece: str) -> None:
    text = piece * 20_000
    started = time.process_time()
    assert remotes.anonymous(text) == text
    assert time.process_time() - started < 2
