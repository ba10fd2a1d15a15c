"""Reading claims from git's files: loose, packed, damaged, and remembered."""

from __future__ import annotations

import json
import math
import time
from typing import TYPE_CHECKING

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.contract.inprocess import Here
from wc_core.base.layout import Layout
from wc_core.edits.claims import book as books
from wc_core.edits.claims import refs
from wc_core.edits.claims.ids import TOP, ClaimId
from wc_core.edits.claims.record import FOLDER, MAX_RECORD_BYTES, WRITE, Claim

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Machine
    from wc_core.edits.claims.book import Book


@pytest.fixture
def repo(machine: Machine) -> Here:
    repo = Here(machine, machine.repo().path)
    repo.ok("claim", "a.py", "src", "--as", "Codex@x")
    return repo


def read(repo: Here, root: Path | None = None) -> Book:
    index = books.load_index(Layout(str(root))) if root else books.Index()
    return books.read(f"{repo.path}/.git", index, books.no_commits)


def ids_of(book: Book) -> list[str]:
    return [claim.id for claim in book.claims]


def test_loose_and_packed_refs_are_read(repo: Here) -> None:
    assert ids_of(read(repo)) == ["a.py", "src"]
    repo.git("pack-refs", "--all")
    assert ids_of(read(repo)) == ["a.py", "src"]
    repo.ok("claim", "b.py", "--as", "Codex@x")
    repo.ok("release", "src", "--as", "Codex@x")
    assert ids_of(read(repo)) == ["a.py", "b.py"]


def test_packed_commits_are_read_from_the_index(repo: Here) -> None:
    repo.ok("claims")
    repo.git("gc", "--quiet", "--prune=now")
    assert read(repo).unread == tuple(sorted(read(repo).refs))
    assert ids_of(read(repo, repo.store)) == ["a.py", "src"]
    index = repo.store / ".local/claims/index.json"
    index.unlink()
    answer = repo.json("claims")
    assert [claim["id"] for claim in answer["claims"]] == ["a.py", "src"]
    assert ids_of(read(repo, repo.store)) == ["a.py", "src"]


@pytest.mark.parametrize(
    "content",
    [
        *("", "{", "[]", '{"v": 1}', '{"v": 2}', "null", "[" * 9999),
        '{"v": 1, "boot": "", "stamp": null, "claims": [], "refs": 7, "seen": []}',
        '{"v": 1, "boot": "", "stamp": null, "claims": {"a": 1}}',
    ],
)
def test_a_damaged_index_is_made_again(repo: Here, content: str) -> None:
    index = repo.store / ".local/claims/index.json"
    index.write_text(content)
    assert len(repo.json("claims")["claims"]) == 2
    assert '"a.py"' in index.read_text()


def test_seen_times_that_are_no_numbers_are_made_again(repo: Here) -> None:
    index = repo.store / ".local/claims/index.json"
    fields = json.loads(index.read_text())
    damaged: tuple[object, ...] = ([], 7, {"a": "b"}, {"a": math.inf})
    for seen in damaged:
        index.write_text(json.dumps(fields | {"seen": seen}))
        assert len(repo.json("claims")["claims"]) == 2


def test_the_records_are_kept_when_the_machine_restarts(repo: Here) -> None:
    repo.ok("claims")
    repo.git("gc", "--quiet", "--prune=now")
    index = repo.store / ".local/claims/index.json"
    fields = json.loads(index.read_text()) | {"boot": "another"}
    fields["seen"] = dict.fromkeys(fields["seen"], 0)
    index.write_text(json.dumps(fields))
    book = read(repo, repo.store)
    assert ids_of(book) == ["a.py", "src"]
    assert all(book.seconds_left(claim) == 900 for claim in book.claims)
    assert all(book.seconds_to_lapse(claim) == 900 * 1.5 for claim in book.claims)


@pytest.mark.parametrize(
    ("age_s", "left", "standing"),
    [
        (0, 900, books.HELD),
        (60, 840, books.HELD),
        (900, 0, books.HELD),
        (1349, 0, books.HELD),
        (1350, 0, books.LAPSED),
    ],
)
def test_a_claim_counts_down_from_its_time_to_live(
    age_s: int, left: int, standing: str
) -> None:
    claim = Claim("a.py", WRITE, "Codex", ttl_s=900, oid="1" * 40)
    book = books.Book((claim,), {}, {claim.oid: 5_000}, 5_000 + age_s * 1000)
    assert (book.seconds_left(claim), book.standing(claim)) == (left, standing)


@pytest.mark.parametrize("oid", ["", "HEAD", "../../config", "\0", "a" * 39])
def test_only_the_file_of_an_object_is_read(repo: Here, oid: str) -> None:
    assert refs.loose_commit(f"{repo.path}/.git", oid) is None


PATHS = st.lists(st.sampled_from(["a", "ab", "a::b", "a:"]), min_size=1, max_size=3)
IDS = st.one_of(
    st.just(ClaimId(TOP)),
    st.builds(ClaimId, PATHS.map("/".join), st.sampled_from(["", "", "A", "A.b"])),
)


@given(st.lists(IDS, unique=True), IDS)
@example([ClaimId("a:", "A")], ClaimId("a"))
def test_the_claims_that_overlap_a_target(
    claimed: list[ClaimId], asked: ClaimId
) -> None:
    claims = tuple(Claim(str(claim_id), WRITE, "Codex") for claim_id in claimed)
    book = books.Book(claims, {}, {}, 0)
    expected = [str(claim_id) for claim_id in claimed if claim_id.overlaps(asked)]
    assert [claim.id for claim in book.overlapping(asked)] == expected


def test_what_changed_in_the_same_moment_is_seen(repo: Here) -> None:
    """Files that were written within one tick of the clock have the same times."""
    for number in range(10):
        repo.ok("claim", f"{number}.py", "--as", "Codex@x")
        assert f"{number}.py" in ids_of(read(repo, repo.store))
        repo.ok("release", f"{number}.py", "--as", "Codex@x")
        assert ids_of(read(repo, repo.store)) == ["a.py", "src"]


def test_an_index_is_not_believed_before_the_clock_has_moved_on() -> None:
    stamp = refs.RefsStamp(1_000_000_000, 1, 0, 1, 1)
    assert not stamp.is_older(1_050_000_000, 100_000_000)
    assert stamp.is_older(1_100_000_000, 100_000_000)


def test_refs_that_are_no_claims_hide_no_others(repo: Here) -> None:
    head = repo.git("rev-parse", "HEAD")
    big = "x\n\n{" + "x" * MAX_RECORD_BYTES
    words = ["git", "commit-tree", f"{head}^{{tree}}", "-F", "-"]
    large = repo.machine.run(words, repo.path, feed=big.encode())
    own = repo.git("for-each-ref", "--format=%(objectname)", FOLDER).splitlines()[0]
    for number, oid in enumerate((head, large.out.strip(), own)):
        repo.git("update-ref", f"{FOLDER}{number:040x}", oid)
    repo.git("update-ref", f"{FOLDER}not-a-digest", head)
    blob = repo.git("hash-object", "-w", "code.txt")
    repo.git("update-ref", f"{FOLDER}{7:040x}", blob)
    (repo.path / ".git" / FOLDER / f"{8:040x}").write_text("garbage")
    answer = repo.json("claims")
    assert [claim["id"] for claim in answer["claims"]] == ["a.py", "src"]
    assert answer["unreadable"] == 4


def test_many_claims_are_read_from_one_file(repo: Here) -> None:
    repo.ok("claim", *(f"f{number}.py" for number in range(50)), "--as", "Codex@x")
    time.sleep(0.15)
    repo.ok("claims")
    index = books.load_index(Layout(str(repo.store)))
    assert index.stamp == refs.stamp(f"{repo.path}/.git")
    assert len(index.claims) == 52
