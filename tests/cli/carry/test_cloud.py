"""``wc cloud``: the files are valid, and their scripts do what they say."""

from __future__ import annotations

import importlib
import json
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.cli.carry.places import CLAUDE, accept_only, leave, new_hub, session
from tests.conftest import Machine, Repo
from wc_cli.agents.cloud import places

if TYPE_CHECKING:
    from tests.conftest import Done

ROOT = Path(__file__).resolve().parents[3]
EXAMPLES = ROOT / "docs/examples"
yaml: Any = importlib.import_module("yaml")  # it has no types
WORKFLOWS = [place for place in places.PLACES if place.file.endswith(".yml")]
SCRIPTS = [place for place in places.PLACES if place.file.endswith(".sh")]


def workflow(place: places.CloudPlace) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(place.template)
    return found


def run_script(repo: Repo, text: str, **env: str) -> Done:
    """Run a script as its place does; installers only record what they get."""
    tools = repo.path.parent / "tools"
    tools.mkdir(exist_ok=True)
    for name in ("uv", "pipx"):
        tool = tools / name
        tool.write_text(f'#!/bin/sh\necho "{name} $*" >>"{tools}/installed"\n')
        tool.chmod(0o755)
    binaries = repo.machine.home / ".local/bin"
    binaries.mkdir(parents=True, exist_ok=True)
    for name in ("wc-cli", "wc-observe"):
        (binaries / name).unlink(missing_ok=True)
        (binaries / name).symlink_to(ROOT / ".venv/bin" / name)
    script = repo.path.parent / "script.sh"
    # A link in this machine's own folder of programs would outlive the test.
    script.write_text(text.replace("/usr/local/bin/", f"{tools}/"))
    path = f"{tools}:{binaries}:{repo.machine.env['PATH']}"
    full = {"PATH": path, "WATERCOOLER_SYNC": "inline", **env}
    return repo.machine.run(["bash", "-e", str(script)], repo.path, env=full)


def steps_of(place: places.CloudPlace, job: str) -> dict[str, str]:
    """The scripts of a job, by the names of its steps."""
    rows = workflow(place)["jobs"][job]["steps"]
    return {row["name"]: row["run"] for row in rows if "run" in row}


def test_each_place_has_a_file_and_says_where_it_goes(machine: Machine) -> None:
    repo = machine.repo()
    listed = repo.ok("cloud")
    assert [line.split()[0] for line in listed.out.splitlines()] == [
        place.word for place in places.PLACES
    ]
    assert "wc cloud PLACE" in listed.err
    for place in places.PLACES:
        said = repo.ok("cloud", place.word)
        assert said.out.rstrip("\n") == place.template.rstrip("\n")
        assert f"It goes to: {place.target}" in said.err
        assert "Fill in OWNER/REPOSITORY" in said.err
        assert (EXAMPLES / place.file).read_text() == place.template
        assert repo.json("cloud", place.word)["target"] == place.target
    assert "One of: claude, codex" in repo.fails(2, "cloud", "mars")
    assert not (repo.path / ".watercooler").exists()


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("git@example.org:team/app.git", "https://example.org/team/app.git"),
        ("ssh://git@example.org:22/team/app.git", "https://example.org/team/app.git"),
        ("https://pat:secret@example.org/app.git", "https://example.org/app.git"),
        ("/srv/git/app.git", "https://github.com/OWNER/REPOSITORY"),
        ("../app.git", "https://github.com/OWNER/REPOSITORY"),
        ("file:///srv/app.git", "https://github.com/OWNER/REPOSITORY"),
    ],
)
def test_the_address_of_the_threads_is_filled_in(
    machine: Machine, url: str, expected: str
) -> None:
    repo = machine.repo()
    repo.git("remote", "add", "origin", url)
    lines = repo.ok("cloud", "codex").out.splitlines()
    assert f"URL={expected}" in lines
    assert "pat:" not in "\n".join(lines)


@pytest.mark.parametrize("place", SCRIPTS, ids=lambda place: place.word)
def test_a_setup_script_installs_wc(
    place: places.CloudPlace, machine: Machine, tmp_path: Path
) -> None:
    """And, where the session has no network, fetches the threads."""
    person = machine.repo()
    hub = new_hub(person, tmp_path / "hub.git")
    person.ok("new", "login", "-m", "Use a passkey", "--to", "Codex", "--force")
    person.ok("sync")
    cloud = Machine(tmp_path / "cloud", user="Codex")
    path = cloud.root / "code"
    cloud.git("clone", "-q", "--depth", "1", f"file://{hub}", str(path), cwd=cloud.root)
    repo = Repo(cloud, path)
    repo.git("remote", "remove", "origin")
    text = place.template.replace(
        "URL=https://github.com/OWNER/REPOSITORY", f"URL=file://{hub}"
    )
    done = run_script(repo, text, GH_TOKEN="s3cret")
    assert done.code == 0, done
    installed = (tmp_path / "cloud/tools/installed").read_text()
    assert (
        installed
        == "uv tool install --quiet git+https://github.com/OWNER/REPOSITORY@TAG\n"
    )
    assert "s3cret" not in done.out + done.err
    if place.word == "codex":
        hub.rename(tmp_path / "away.git")
        brief = repo.ok("brief", env={"CODEX_THREAD_ID": "1"}).out
        assert "Use a passkey" in brief


@pytest.mark.parametrize("place", WORKFLOWS, ids=lambda place: place.word)
def test_a_workflow_is_pinned_and_takes_no_text_as_code(
    place: places.CloudPlace,
) -> None:
    content = workflow(place)
    for job in content["jobs"].values():
        for step in job["steps"]:
            if uses := step.get("uses"):
                assert re.search(r"@v\d+\.\d+\.\d+$", uses)
            # An expression inside a script would be code of whoever starts it.
            assert "${{" not in step.get("run", "")
    assert set(content["permissions"]) == {"contents"}
    assert place.target == f".github/workflows/{place.file}"


def test_copilot_gets_wc_and_the_threads(machine: Machine, tmp_path: Path) -> None:
    place = places.find("copilot")
    assert place is not None
    person = machine.repo()
    hub = new_hub(person, tmp_path / "hub.git")
    person.ok("new", "login", "-m", "Use a passkey", "--to", "Copilot CLI", "--force")
    person.ok("sync")
    runner = Machine(tmp_path / "runner", user="copilot-swe-agent[bot]")
    path = runner.root / "code"
    words = ("--depth", "1", f"file://{hub}", str(path))
    runner.git("clone", "-q", *words, cwd=runner.root)
    repo = Repo(runner, path)
    for script in steps_of(place, "copilot-setup-steps").values():
        done = run_script(repo, script, WC="wc")
        assert done.code == 0, done
    brief = repo.ok("brief", env={"COPILOT_CLI": "1", "COPILOT_AGENT_ACTION": "task"})
    assert "Use a passkey" in brief.out


def test_the_workflow_harvests_and_hands_over(machine: Machine, tmp_path: Path) -> None:
    place = places.find("actions")
    assert place is not None
    person = machine.repo()
    hub = new_hub(person, tmp_path / "hub.git")
    person.ok("new", "login", "-m", "Use a passkey", "--to", "Claude Code", "--force")
    person.ok("sync")
    cloud = session(CLAUDE, hub, tmp_path / "cloud")
    cloud.ok("brief")
    cloud.ok("say", "login", "-m", "Done")
    leave(CLAUDE, cloud, person)
    accept_only(hub, "")
    runner = Machine(tmp_path / "runner", user="")
    path = runner.root / "code"
    words = ("--depth", "1", f"file://{hub}", str(path))
    runner.git("clone", "-q", *words, cwd=runner.root)
    repo = Repo(runner, path)
    scripts = steps_of(place, "harvest")
    actions = {"GITHUB_ACTIONS": "true", "CI": "true", "WC": "wc", "USER": "runner"}
    done = run_script(repo, scripts["Harvest"], **actions)
    assert "1 entry came with claude/fix" in done.out, done
    env = actions | {"TOPIC": "login", "TO": "Codex", "GITHUB_ACTOR": "pat"}
    done = run_script(repo, scripts["Hand over"], **env)
    assert done.code == 0, done
    person.ok("sync")
    assert person.ball("login") == "Codex"
    assert [row["title"] for row in person.entries("login")][1] == "Done"


def test_a_dev_container_sets_wc_up(machine: Machine) -> None:
    place = places.find("devcontainer")
    assert place is not None
    fields = json.loads(place.template)
    repo = machine.repo()
    (machine.home / ".claude").mkdir()
    done = run_script(repo, fields["postCreateCommand"], SHELL="/bin/bash")
    assert done.code == 0, done
    assert (machine.home / ".claude/settings.json").exists()
    assert os.path.isdir(repo.store)
