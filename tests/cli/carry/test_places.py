"""The same play in each place where agents work in the cloud: a ball is handed over,
seen in the first brief, and answered, and comes back."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.cli.carry.places import PLACES, Place, accept_only, leave, new_hub, session

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Machine, Repo


def files_of(repo: Repo) -> dict[str, str]:
    """The logs and what is rendered from them."""
    names = repo.machine.git("ls-files", cwd=repo.store).splitlines()
    return {name: (repo.store / name).read_text() for name in names}


@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES)
def test_a_ball_goes_to_the_cloud_and_comes_back(
    place: Place, machine: Machine, tmp_path: Path
) -> None:
    person = machine.repo()
    hub = new_hub(person, tmp_path / "hub.git")
    person.ok("new", "login", "-m", "Use a passkey", "--to", place.agent, "--force")
    person.ok("sync")
    first = session(place, hub, tmp_path / "first")
    second = session(place, hub, tmp_path / "second", f"{place.branch}-b")
    for cloud in (first, second):
        brief = cloud.ok("brief").out
        assert "login" in brief, brief
        assert "Use a passkey" in brief
    first.settled("say", "login", "-m", "From the first", "--to", "Pat")
    second.settled("say", "login", "-m", "From the second")
    person.settled("say", "login", "-m", "In between")
    listed = json.loads(first.ok("list", "--json").out)
    assert listed["sync"]["carried"]["entries"] == 1, listed
    leave(place, first, person)
    leave(place, second, person, f"{place.branch}-b")
    accept_only(hub, "")
    said = person.ok("sync").out
    assert "1 entry came with " in said, said
    authors = {entry["agent"] for entry in person.entries("login")}
    assert len(authors) == 3, authors
    assert all("(" not in author for author in authors)
    titles = {entry["title"] for entry in person.entries("login")}
    assert titles >= {"From the first", "From the second", "In between"}
    assert person.ball("login") == "Pat"
    assert " · via c" in person.ok("read", "login", "--raw").out
    assert " · via c" in person.ok("read", "login", "--commits").out
    assert person.wc("doctor").code == 0
    assert "nothing new" in person.ok("sync").out
    other = machine.git("clone", "-q", str(hub), str(tmp_path / "other"), cwd=tmp_path)
    assert not other
    clones = [person, type(person)(machine, tmp_path / "other")]
    clones[1].ok("sync")
    clones[0].ok("sync")
    assert files_of(clones[0]) == files_of(clones[1])
    if place.has_remote:
        first.ok("sync")
        assert files_of(first) == files_of(person)
        assert "carried" not in json.loads(first.ok("list", "--json").out)["sync"]
