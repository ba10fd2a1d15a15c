"""``wc radar`` and ``wc conflicts`` on real worktrees."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Machine, Repo

AUTH = "def login(user):\n    check(user)\n    return True\n"
LONG = "".join(f"x{number} = {number}\n" for number in range(40))
BOTH = ["login", "review"]


@pytest.fixture
def repo(machine: Machine) -> Repo:
    """A repository with the worktrees ``login`` and ``review``."""
    repo = machine.repo()
    for name, text in (("auth.py", AUTH), ("long.py", LONG), ("CHANGES", "one\n")):
        (repo.path / name).write_text(text)
    (repo.path / ".gitignore").write_text("ignored\n")
    machine.git("add", "-A", cwd=repo.path)
    machine.git("commit", "-q", "-m", "files", cwd=repo.path)
    for name in BOTH:
        machine.git("worktree", "add", "-q", "-b", name, f"../{name}", cwd=repo.path)
    assert repo.wc("init").code == 0
    assert repo.wc("say", "t", "--title", "x").code == 0
    return repo


def write(repo: Repo, tree: str, name: str, text: str | None) -> None:
    """Write a file in a worktree; without text it is removed."""
    path = repo.path.parent / tree / name
    if text is None:
        path.unlink()
    else:
        path.write_text(text)


def commit(repo: Repo, tree: str) -> None:
    cwd = repo.path.parent / tree
    repo.machine.git("add", "-A", cwd=cwd)
    repo.machine.git("commit", "-q", "-m", "work", cwd=cwd)


def radar(repo: Repo, *words: str) -> dict[str, Any]:
    report: dict[str, Any] = repo.wc("radar", *words, "--json").json
    return report


def pairs(repo: Repo, *words: str) -> list[tuple[list[str], list[tuple[str, str]]]]:
    """The trees of each pair, and the files with their kinds."""
    return [
        (pair["trees"], [(file["path"], file["kind"]) for file in pair["files"]])
        for pair in radar(repo, *words)["pairs"]
    ]


def trees(repo: Repo) -> dict[str, list[str]]:
    return {tree["name"]: tree["files"] for tree in radar(repo)["trees"]}


class Case(NamedTuple):
    """What each of two worktrees does with a file of its own choice, and what the radar
    says of it; ``kind`` is empty if it says nothing."""

    login: tuple[str, str | None]
    review: tuple[str, str | None]
    kind: str = ""


CASES = {
    "the same line": Case(
        ("auth.py", AUTH.replace("(user)\n", "(user, 1)\n")),
        ("auth.py", AUTH.replace("(user)\n", "(user, 2)\n")),
        "hot",
    ),
    "other lines": Case(
        ("long.py", LONG.replace("x1 = 1\n", "x1 = 0\n")),
        ("long.py", LONG.replace("x39 = 39\n", "x39 = 0\n")),
        "soft",
    ),
    "the same change beside another": Case(
        ("long.py", f"{LONG}same\n"), ("long.py", f"y = 1\n{LONG}same\n"), "soft"
    ),
    "nothing but the same change": Case(
        ("auth.py", f"{AUTH}same\n"), ("auth.py", f"{AUTH}same\n"), "soft"
    ),
    "the same new file": Case(("new ü.py", "1\n"), ("new ü.py", "2\n"), "hot"),
    "a deleted file": Case(("auth.py", None), ("auth.py", "new\n"), "hot"),
    "other files": Case(("auth.py", "1\n"), ("long.py", "2\n")),
    "an ignored file": Case(("ignored", "1\n"), ("ignored", "2\n")),
}


@pytest.mark.parametrize("committed", [(), ("login",), BOTH], ids=str)
@pytest.mark.parametrize("name", CASES)
def test_what_two_worktrees_change_both(
    repo: Repo, name: str, committed: list[str]
) -> None:
    case = CASES[name]
    write(repo, "login", *case.login)
    write(repo, "review", *case.review)
    if name == "nothing but the same change":
        write(repo, "login", "other", "x\n")  # else both are the same commit
    for tree in committed:
        if name != "an ignored file":
            commit(repo, tree)
    expected = [(BOTH, [(case.login[0], case.kind)])] if case.kind else []
    assert pairs(repo) == expected
    assert pairs(repo) == expected, "the same from the report that was kept"


def test_the_text_of_a_report(repo: Repo) -> None:
    for tree, text in (("login", "1"), ("review", "2")):
        write(repo, tree, "auth.py", AUTH.replace("check(user)", text))
        write(repo, tree, "CHANGES", f"one\n{text}\n")
    assert repo.wc("radar", cwd="../login").out.splitlines() == [
        "  main · nothing changed",
        "> login · CHANGES, auth.py",
        "  review · CHANGES, auth.py",
        "",
        "login and review conflict",
        "  ⚠ CHANGES: keep the lines of both",
        "  ⚠ auth.py: def login(user):",
    ]
    own = repo.wc("conflicts", cwd="../login").out.splitlines()
    assert own[0] == "login and review conflict"
    assert repo.wc("conflicts", "review", cwd="../login").out.splitlines() == own
    assert repo.wc("conflicts").out == "Nothing that others change, too.\n"


def test_a_change_shows_at_the_next_look(repo: Repo) -> None:
    assert pairs(repo) == []
    write(repo, "login", "auth.py", "a\n")
    assert trees(repo)["login"] == ["auth.py"]
    write(repo, "review", "auth.py", "b\n")
    assert pairs(repo) == [(BOTH, [("auth.py", "hot")])]
    write(repo, "review", "auth.py", f"{AUTH}more\n")
    assert pairs(repo) == [(BOTH, [("auth.py", "hot")])]
    write(repo, "review", "auth.py", AUTH)
    assert pairs(repo) == []


def state(folder: Path) -> list[tuple[str, int, int]]:
    """The files of a worktree and of its git directory, without objects."""
    return sorted(
        (path, os.lstat(path).st_mtime_ns, os.lstat(path).st_size)
        for root, _, files in os.walk(folder)
        for path in (f"{root}/{name}" for name in files)
        if "/objects/" not in path
    )


def test_nothing_but_objects_is_added(repo: Repo) -> None:
    write(repo, "login", "auth.py", "a\n")
    write(repo, "login", "new", "b\n")
    places = [repo.path.parent / name for name in ("app", *BOTH)]
    before = [state(place) for place in places]
    radar(repo)
    assert [state(place) for place in places] == before
    store = next((repo.machine.home / ".watercooler/worktrees").glob("*/"))
    assert (store / ".local/radar.json").exists()


def test_secrets_and_large_files_are_in_no_object(repo: Repo) -> None:
    secret = b"hunter2 hunter2\n"
    names = [".env", "key.pem", "my-credentials.json"]
    for name in names:
        (repo.path.parent / "login" / name).write_bytes(secret)
    (repo.path.parent / "login/large").write_bytes(b"x" * (6 << 20))
    tree = radar(repo)["trees"][1]
    assert sorted(tree["left_out"]) == sorted([*names, "large"])
    assert sorted(tree["files"]) == sorted([*names, "large"])
    machine = repo.machine
    words = ["git", "hash-object", "--stdin"]
    blob = machine.run(words, repo.path, feed=secret).out.strip()
    assert machine.run(["git", "cat-file", "-e", blob], repo.path).code


def test_branches_of_others(repo: Repo, machine: Machine) -> None:
    git, other = machine.git, repo.path.parent / "other"
    git("clone", "-q", "--bare", str(repo.path), "../hub.git", cwd=repo.path)
    git("clone", "-q", "../hub.git", "../other", cwd=repo.path)
    git("switch", "-q", "-c", "feature", cwd=other)
    write(repo, "other", "auth.py", "theirs\n")
    commit(repo, "other")
    git("push", "-q", "origin", "feature", cwd=other)
    git("remote", "add", "origin", "../hub.git", cwd=repo.path)
    git("fetch", "-q", cwd=repo.path)
    write(repo, "login", "auth.py", "ours\n")
    assert pairs(repo) == []
    expected = [(["login", "origin/feature"], [("auth.py", "hot")])]
    assert pairs(repo, "--remote") == expected
    done = repo.wc("conflicts", "feature", "--json", cwd="../login").json
    assert [pair["trees"] for pair in done["pairs"]] == [expected[0][0]]


@pytest.mark.parametrize("damage", ["missing", "unborn", "no store"])
def test_other_worktrees_go_on(repo: Repo, machine: Machine, damage: str) -> None:
    write(repo, "login", "auth.py", "a\n")
    write(repo, "review", "auth.py", "b\n")
    if damage == "missing":
        (repo.path.parent / "review").rename(repo.path.parent / "elsewhere")
        assert list(trees(repo)) == ["main", "login"]
    elif damage == "unborn":
        machine.git("switch", "-q", "--orphan", "empty", cwd=repo.path)
        assert list(trees(repo)) == BOTH
    else:
        store = next((machine.home / ".watercooler/worktrees").glob("*/"))
        words = ("worktree", "remove", "--force", "--force", str(store))
        machine.git(*words, cwd=repo.path)
        assert pairs(repo) == [(BOTH, [("auth.py", "hot")])]


@pytest.mark.parametrize(
    ("words", "cwd", "text"),
    [
        (["conflicts", "nope"], "", "There are: main, login, review"),
        (["radar"], "..", "This is no git repository"),
        (["conflicts"], "..", "This is no git repository"),
    ],
)
def test_wrong_input(repo: Repo, words: list[str], cwd: str, text: str) -> None:
    done = repo.wc(*words, cwd=cwd)
    assert done.code
    assert text in done.err
