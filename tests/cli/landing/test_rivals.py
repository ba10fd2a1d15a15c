"""Which branches conflict is found out without merging each pair, and is the same."""

from __future__ import annotations

import itertools
import os
import random
from typing import TYPE_CHECKING, Any

import pytest

from tests.cli.landing.story import head, work
from wc_cli.edits.landing import rivals
from wc_cli.edits.landing.building import MergePlace
from wc_cli.edits.landing.missing import MissingCommits
from wc_cli.edits.radar import merges
from wc_cli.ledger.branch.git import Git

if TYPE_CHECKING:
    from tests.contract.inprocess import Here
    from wc_cli.ledger.branch.git import Running

HERE = MergePlace({})


def commit_files(here: Here, branch: str, files: dict[str, str], onto: str) -> str:
    """Make a branch from another one, with the content of some files."""
    here.git("switch", "-q", "-C", branch, onto)
    for name, text in files.items():
        (here.path / name).write_text(text, "utf-8")
    here.git("add", "--all")
    here.git("commit", "-q", "--allow-empty", "-m", branch)
    return head(here, "HEAD")


def random_branches(here: Here, seed: int, count: int) -> dict[str, str]:
    """Branches with random changes of two files, some of them on top of another."""
    chance = random.Random(seed)
    lines = [f"{number}\n" for number in range(40)]
    commit_files(here, "main", {"one": "".join(lines), "two": "".join(lines)}, "main")
    tips: dict[str, str] = {}
    for number in range(count):
        name = f"b{number}"
        is_stacked = tips and chance.random() < 0.2
        onto = chance.choice([*tips]) if is_stacked else "main"
        here.git("switch", "-q", "-C", name, onto)
        files = {}
        for path in ("one", "two"):
            text = (here.path / path).read_text("utf-8").splitlines(keepends=True)
            for _ in range(chance.choice((0, 1, 1, 2))):
                at = chance.randrange(len(text))
                kind = chance.randrange(3)
                new = [f"new {chance.randrange(3)}\n"]
                text[at : at + (kind != 0)] = new if kind != 1 else []
            files[path] = "".join(text)
        if chance.random() < 0.2:
            files[f"added{chance.randrange(2)}"] = f"{chance.randrange(2)}\n"
        tips[name] = commit_files(here, name, files, name)
    return tips


def pairs_that_conflict(git: Git, tips: dict[str, str]) -> set[frozenset[str]]:
    pairs = list(itertools.combinations(tips, 2))
    commits = [(tips[first], tips[second]) for first, second in pairs]
    results = zip(pairs, merges.merge_all(git, HERE, commits), strict=True)
    return {frozenset(pair) for pair, result in results if result.conflicts}


@pytest.mark.parametrize("seed", range(4))
def test_they_are_those_that_merging_each_pair_gives(here: Here, seed: int) -> None:
    tips = random_branches(here, seed, 12)
    git = Git(str(here.path), os.environ)
    base = head(here, "main")
    missing = MissingCommits(git, base, tips.values())
    result = rivals.find_rivals(git, HERE, base, tips, missing)
    assert result.merging == tips.keys()
    assert result.pairs == pairs_that_conflict(git, tips)


def test_with_too_many_to_merge_changes_that_touch_conflict(
    here: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    tips = random_branches(here, 9, 12)
    git = Git(str(here.path), os.environ)
    base = head(here, "main")
    missing = MissingCommits(git, base, tips.values())
    monkeypatch.setattr(rivals, "_MAX_MERGES", 0)
    result = rivals.find_rivals(git, HERE, base, tips, missing)
    stacked = {
        frozenset(pair)
        for pair in itertools.combinations(tips, 2)
        if missing.of(tips[pair[0]]) & missing.of(tips[pair[1]])
    }
    assert result.pairs >= pairs_that_conflict(git, tips) - stacked


def test_many_branches_of_one_file_are_compared_at_once(
    here: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Merging each pair of 200 takes 20,000 merges."""
    text = "".join(f"{number}\n" for number in range(300))
    base = commit_files(here, "main", {"one": text}, "main")
    tips = {}
    for number in range(60):
        new = text.replace(f"\n{100 + 3 * number}\n", f"\nnew {number}\n")
        tips[f"b{number}"] = commit_files(here, f"b{number}", {"one": new}, "main")
    tips["same"] = commit_files(
        here, "same", {"one": text.replace("\n100\n", "\nother\n")}, "main"
    )
    merged: list[int] = []
    whole = merges.merge_all

    def counting(*words: object) -> object:
        merged.append(len(words[2]))  # type: ignore[arg-type]
        return whole(*words)  # type: ignore[arg-type]

    monkeypatch.setattr(merges, "merge_all", counting)
    git = Git(str(here.path), os.environ)
    missing = MissingCommits(git, base, tips.values())
    result = rivals.find_rivals(git, HERE, base, tips, missing)
    assert result.pairs == {frozenset(("b0", "same"))}
    assert merged == [61, 1]


def test_a_dry_run_takes_few_processes_for_each_branch(
    here: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(6):
        work(here, f"t{number}", 3 * number + 1)
    started: list[str] = []
    start = Git.start

    def counting(git: Git, *words: str, **named: Any) -> Running:
        started.append(words[0])
        return start(git, *words, **named)

    monkeypatch.setattr(Git, "start", counting)
    assert len(here.ok("land", "--all", "--dry-run").out.splitlines()) == 6
    of_each = ("status", "merge-tree", "commit-tree")
    assert [started.count(word) for word in of_each] == [6, 7, 6]
    assert len(started) - 19 < 12
