"""``wc doctor`` finds what is wrong, says how to fix it, and changes nothing."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Any

import pytest

from tests.conftest import THREADS

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Machine, Repo


def test_nothing_is_wrong(repo: Repo) -> None:
    assert repo.ok("doctor").out.endswith("Nothing is wrong.\n")
    repo.settled("say", "auth", "--title", "x")
    answer = repo.json("doctor")
    assert list(answer) == [
        *("store", "kind", "threads", "entries"),
        *("findings", "waiting", "notes", "mended", "graph", "meaning"),
    ]
    assert (answer["kind"], answer["threads"], answer["entries"]) == ("branch", 1, 1)
    assert answer["findings"] == []


def test_outside_git_and_in_tree(machine: Machine) -> None:
    place = machine.folder("notes")
    place.settled("say", "auth", "--title", "x")
    assert "1 thread, 1 entry" in place.ok("doctor").out


def _append(data: bytes) -> Callable[[Repo], object]:
    def append(repo: Repo) -> None:
        with repo.log("auth").open("ab") as log:
            log.write(data)

    return append


def _put(name: str, text: str) -> Callable[[Repo], object]:
    return lambda repo: (repo.store / name).write_text(text)


LOG = "graph/baseline/threads/auth/entries.jsonl"
WRONG: dict[str, tuple[Callable[[Repo], object], str, str]] = {
    "torn": (_append(b'{"en'), f"{LOG}:2", "never finished"),
    "garbage": (_append(b"\xff\n"), f"{LOG}:2", "not UTF-8"),
    "shape": (_append(b"[]\n"), f"{LOG}:2", "not an object"),
    "no log": (lambda repo: repo.log("auth").unlink(), LOG, "missing"),
    "page": (_put("threads/auth.md", "#"), "threads/auth.md", "does not match the log"),
    "settings": (_put("config.toml", "["), "config.toml", "cannot be used"),
    "ignored": (_put(".gitignore", "x\n"), ".gitignore", ".local/"),
}


def test_settings_that_set_nothing_are_noted(repo: Repo) -> None:
    repo.settled("say", "auth", "--title", "x")
    for file, text in [
        ("config.json", '{"counterpart": "Claude", "default_ball": "Team"}'),
        ("config.toml", '[ball]\nenforced = "x"\n[claims]\nverify = "signed"\n'),
    ]:
        _put(file, text)(repo)
    out = repo.wc("doctor").out
    for key in (
        "config.json: default_ball",
        *("config.toml: ball.enforced", "config.toml: claims.verify"),
    ):
        note = f"{key} has no effect: remove or correct it"
        assert f"note: {note}\n" in out


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_is_found(repo: Repo, case: str) -> None:
    repo.settled("say", "auth", "--title", "x")
    repo.settled("say", "billing", "--title", "x")
    break_it, place, message = WRONG[case]
    break_it(repo)
    done = repo.wc("doctor", "--json")
    assert done.code == 9
    assert done.error["code"] == "FINDINGS"
    found: list[dict[str, Any]] = done.json["findings"]
    said = [f"{one['file']}:{one['line']} {one['message']}" for one in found]
    assert any(one.startswith(place) and message in one for one in said), said
    assert all(one["fix"] for one in found)
    text = repo.wc("doctor")
    assert text.code == 9
    assert message in text.out


def test_a_store_that_is_gone(repo: Repo) -> None:
    repo.settled("say", "auth", "--title", "x")
    shutil.rmtree(repo.store)
    done = repo.wc("doctor")
    assert done.code == 9
    assert "wc init" in done.out


def test_what_awaits_a_commit(repo: Repo) -> None:
    repo.ok("init")
    (repo.path / ".git/refs/heads" / f"{THREADS}.lock").touch()
    repo.settled("say", "auth", "--title", "x", "--as", "Codex")
    done = repo.wc("doctor", "--as", "Codex")
    assert done.code == 9
    assert "1 thread to be settled; at 20" in done.out


def test_what_is_left_of_a_failed_first_entry_is_not_a_finding(repo: Repo) -> None:
    repo.settled("say", "auth", "--title", "x")
    (repo.log("auth").parent.parent / "ghost").mkdir()
    answer = repo.json("doctor")
    assert (answer["threads"], answer["findings"]) == (1, [])


def test_looking_changes_nothing(repo: Repo) -> None:
    repo.settled("say", "auth", "--title", "x")
    _append(b'{"en')(repo)
    store = repo.store
    paths = [one for one in sorted(store.rglob("*")) if one.is_file()]
    before = [(one, one.read_bytes()) for one in paths]
    assert repo.wc("doctor").code == 9
    assert [(one, one.read_bytes()) for one in paths] == before


def test_in_the_home_folder_there_is_no_store_and_nothing_is_wrong(
    machine: Machine,
) -> None:
    done = machine.run([*machine.wc_words, "doctor"], machine.home)
    assert done.code == 0, done
    first, second, note, *_ = done.out.splitlines()
    assert first == "no store: 0 threads, 0 entries"
    assert second == "Nothing is wrong."
    assert note.startswith(
        "note: The home folder itself cannot hold a store. Run wc in"
    )


def test_what_was_never_needed_is_only_noted_on_request(repo: Repo) -> None:
    repo.ok("new", "login", "-m", "Log in", env={"WATERCOOLER_AGENT": "Codex"})
    assert repo.ok("doctor").out.splitlines()[1:] == ["Nothing is wrong."]
    assert "note: edits: advisory" in repo.ok("doctor", "--all").out
    repo.ok("claim", "code.txt", "--as", "Codex")
    assert "note: edits: advisory" in repo.ok("doctor").out


def test_a_place_where_no_store_can_be_made(repo: Repo) -> None:
    file = repo.machine.root / "no-folder"
    file.write_text("")
    done = repo.wc("doctor", env={"HOME": str(file)})
    assert done.code == 9
    assert f"{file}: cannot be written, so no store can be made there" in done.out
    assert f"Check its owner and permissions: ls -ld {file}" in done.out
