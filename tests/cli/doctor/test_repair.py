"""wc doctor --repair: what can be repaired is, and no byte is lost by it."""

from __future__ import annotations

import json
import re
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.bench import stores
from tests.conftest import THREADS
from wc_core.base.layout import Layout
from wc_core.ledger.threads.longlines import MAX_LINE_BYTES

if TYPE_CHECKING:
    from tests.conftest import Machine, Repo

BAD = b'garbage\n{"a":1}\n\xff\xfe\n{"entry_id":"01M80H6V9E5'


@pytest.fixture
def thread(repo: Repo) -> Repo:
    """A settled thread of two entries."""
    repo.settled("new", "auth", "--title", "Begin", "--body", "How?")
    repo.settled("say", "auth", "--title", "Go on", "--to", "Codex")
    return repo


def tree(repo: Repo) -> dict[str, bytes]:
    """The files of a store, without those that every repair makes."""
    store = repo.store
    return {
        str(one.relative_to(store)): one.read_bytes()
        for one in sorted(store.rglob("*"))
        if one.is_file() and not re.search(r"/\.local/(locks/|cache\.db)", str(one))
    }


def repaired(repo: Repo) -> list[dict[str, str]]:
    """What was repaired. Afterwards nothing is wrong, and nothing left to repair."""
    answer = repo.json("doctor", "--repair")
    assert answer["findings"] == []
    assert repo.json("doctor", "--repair")["mended"] == []
    assert not repo.machine.git("status", "--porcelain", cwd=repo.store)
    repaired: list[dict[str, str]] = answer["mended"]
    return repaired


def test_an_unfinished_line_is_one_problem(thread: Repo) -> None:
    """What is rendered from the log differs then as well, which is no second one."""
    with thread.log("auth").open("ab") as log:
        log.write(b'{"entry_id": "01M8')
    (finding,) = thread.wc("doctor", "--json").json["findings"]
    assert "never finished" in finding["message"]
    assert repaired(thread)


def test_bad_lines_are_set_aside_byte_for_byte(thread: Repo) -> None:
    log = thread.log("auth")
    good = log.read_bytes()
    log.write_bytes(good + BAD)
    thread.settled("ack", "auth")
    last = log.read_bytes().splitlines(keepends=True)[-1]
    (one,) = [m for m in repaired(thread) if "bad lines" in m["what"]]
    assert log.read_bytes() == good + last
    where = thread.store / one["what"].rpartition(" ")[2]
    assert where.read_bytes() == BAD + b"\n"


def test_the_fuller_of_two_versions_stays(thread: Repo) -> None:
    log = thread.log("auth")
    first, second = log.read_bytes().splitlines(keepends=True)
    poorer = json.dumps(json.loads(first) | {"body": ""}).encode() + b"\n"
    log.write_bytes(poorer + first + second + second)
    repaired(thread)
    assert log.read_bytes() == first + second + second
    (kept,) = (thread.store / ".local/quarantine/auth").iterdir()
    assert kept.read_bytes() == poorer


def test_a_dry_run_changes_nothing(thread: Repo) -> None:
    with thread.log("auth").open("ab") as log:
        log.write(BAD)
    (thread.store / "threads/auth.md").unlink()
    before = tree(thread)
    done = thread.wc("doctor", "--repair", "--dry-run")
    assert done.code == 9
    assert "would repair" in done.out
    assert tree(thread) == before


def test_dry_run_alone_is_refused(thread: Repo) -> None:
    assert "--repair" in thread.fails(2, "doctor", "--dry-run")


def test_deleted_projections_come_back_to_the_same_bytes(thread: Repo) -> None:
    before = tree(thread)
    folder = thread.log("auth").parent
    for path in (folder / "meta.json", folder / "edges.jsonl"):
        path.unlink()
    (thread.store / "threads/auth.md").write_text("cut")
    assert len(repaired(thread)) == 3
    after = tree(thread)
    for name in before:
        if not name.startswith(".local"):
            assert after[name] == before[name], name


def test_other_tools_keys_come_back_from_the_last_commit(thread: Repo) -> None:
    meta = thread.log("auth").with_name("meta.json")
    fields = json.loads(meta.read_text())
    meta.write_text(json.dumps({**fields, "annotations": {"tags": ["x"]}}))
    thread.settled("ack", "auth")
    assert json.loads(meta.read_text())["annotations"] == {"tags": ["x"]}
    meta.unlink()
    repaired(thread)
    assert json.loads(meta.read_text())["annotations"] == {"tags": ["x"]}


def test_a_log_that_is_gone_comes_back_from_the_branch(thread: Repo) -> None:
    log = thread.log("auth")
    before = log.read_bytes()
    log.unlink()
    (thread.store / "threads/auth.md").unlink()
    repaired(thread)
    assert log.read_bytes() == before


def test_outside_git_it_comes_back_from_our_own_page(machine: Machine) -> None:
    place = machine.folder("notes")
    place.settled("new", "auth", "--title", "Begin", "--body", "---\nEntry: forged")
    log = place.path / ".watercooler/graph/baseline/threads/auth/entries.jsonl"
    before = log.read_bytes()
    log.unlink()
    assert "Nothing is wrong.\n" in place.ok("doctor", "--repair").out
    assert log.read_bytes() == before


@pytest.mark.parametrize("kind", ["link", "folder"])
def test_what_stands_where_a_log_belongs_is_set_aside(
    thread: Repo, kind: str, tmp_path: Path
) -> None:
    log = thread.log("auth")
    before = log.read_bytes()
    log.unlink()
    if kind == "link":
        log.symlink_to(tmp_path / "elsewhere")
    else:
        log.mkdir()
        (log / "kept").write_text("kept")
    repaired(thread)
    assert log.read_bytes() == before
    aside = thread.store / ".local/quarantine/auth/entries.jsonl.0"
    assert aside.is_symlink() or (aside / "kept").read_text() == "kept"


def test_threads_of_other_tools_are_left_as_they_keep_them(repo: Repo) -> None:
    repo.ok("init")
    folder = repo.store / "graph/baseline/threads/old"
    folder.mkdir()
    line = '{"entry_id":"01KR0PKS884SXRAKZ8A790Q438","title":"t","x":1}\n'
    (folder / "entries.jsonl").write_text(line)
    (folder / "meta.json").write_text('{"title": "old"}')
    before = tree(repo)
    assert repo.json("doctor", "--repair")["mended"] == []
    assert tree(repo) == before


def test_a_page_with_bytes_that_are_not_text_does_not_stop_a_repair(
    machine: Machine,
) -> None:
    place = machine.folder("notes")
    for topic in ("auth", "other"):
        place.settled("new", topic, "--title", "Begin", "--body", "b")
    store = place.path / ".watercooler"
    page = store / "threads/auth.md"
    trailer = '<!-- wc {"reason":"\\ud800",'
    text = page.read_text()
    assert text.count("<!-- wc {") > 1
    head, _, last = text.rpartition("<!-- wc {")
    page.write_text(f"{head}{trailer}{last}")
    logs = [
        store / f"graph/baseline/threads/{t}/entries.jsonl" for t in ("auth", "other")
    ]
    for log in logs:
        log.unlink()
    assert "Nothing is wrong.\n" in place.ok("doctor", "--repair").out
    assert json.loads(logs[0].read_bytes())["reason"] == "?"
    assert logs[1].exists()


@pytest.mark.parametrize("how", ["gone", "a file"])
def test_a_store_without_local_files_is_repaired_at_once(
    thread: Repo, how: str
) -> None:
    """As a clone of an in-tree store, or a backup, comes."""
    log = thread.log("auth")
    good = log.read_bytes()
    store = thread.store
    shutil.rmtree(store / ".local")
    if how == "a file":
        (store / ".local").mkdir()
        (store / ".local/unsettled").write_text("not ours")
    log.write_bytes(BAD + b"\n" + good)
    (store / "threads/auth.md").unlink()
    repaired(thread)
    assert log.read_bytes() == good


def test_what_could_not_be_repaired_is_not_called_repaired(thread: Repo) -> None:
    page = thread.store / "threads/auth.md"
    page.unlink()
    quarantine = thread.store / ".local/scratch"
    shutil.rmtree(quarantine)
    quarantine.write_text("in the way of every rendering")
    (thread.store / ".local/quarantine").write_text("in the way of setting aside")
    done = thread.wc("doctor", "--repair", "--json")
    assert done.code == 9
    assert done.json["mended"] == []
    assert [one for one in done.json["findings"] if one["file"] == "repair"]
    assert not page.exists()


def test_a_log_that_a_newer_wc_wrote_is_left_to_it(thread: Repo) -> None:
    log = thread.log("auth")
    meta = log.with_name("meta.json")
    with log.open("ab") as file:
        file.write(b'{"wc2":"x","kind":"reaction"}\n')
    meta.write_text(meta.read_text().replace('"version":1', '"version":99'))
    assert '"version":99' in meta.read_text()
    before = tree(thread)
    assert "newer wc" in thread.wc("doctor", "--repair").out
    assert tree(thread) == before


def test_what_no_marker_remembers_is_committed_all_the_same(thread: Repo) -> None:
    entry = thread.ok("ack", "auth", "--json").json["entry_id"]
    shutil.rmtree(thread.store / ".local")
    done = thread.wc("doctor")
    assert done.code == 9
    assert "has 1 entry not in any commit" in done.out
    repaired(thread)
    assert thread.git("log", "--format=%B", THREADS).count(entry) == 1


def test_who_stands_at_another_commit_keeps_what_waits(thread: Repo) -> None:
    store = thread.store
    entry = thread.ok("ack", "auth", "--json").json["entry_id"]
    thread.machine.git("checkout", "-q", "--detach", cwd=store)
    named = {"WATERCOOLER_DIR": str(store)}
    done = thread.settled("ack", "auth", "--json", env=named).json
    assert "is not on the branch" in done["notes"][0]
    assert (store / ".local/unsettled/auth").exists()
    thread.machine.git("checkout", "-q", THREADS, cwd=store)
    thread.settled("ack", "auth")
    assert thread.git("log", "--format=%B", THREADS).count(entry) == 1
    assert thread.ok("doctor").out.endswith("Nothing is wrong.\n")


_COUNTED = """
import collections, os, sys
counts = collections.Counter()
def count(event, values):
    is_stamp = event == "os.rename" and os.path.basename(values[1]) == "stamp"
    counts.update(["stamp" if is_stamp else event])
sys.addaudithook(count)
from wc_cli.ledger.doctor.repair import Repair
steps = list(Repair(sys.argv[1], __import__("os").environ, dry_run=False).run())
listed = counts["os.scandir"] + counts["os.listdir"]
print(len(steps), listed, counts["subprocess.Popen"], counts["stamp"])
"""


def repair_counts(machine: Machine, count: int) -> list[int]:
    """Repair threads of which only the logs are left: the numbers of steps, of listed
    folders, of processes, and of stamps for the line of the prompt."""
    repo = machine.repo(f"app-{count}")
    repo.ok("init")
    layout = Layout(str(repo.store))
    for number in range(count):
        entries = tuple(stores.a_thread(f"topic-{number}", number, 1))
        path = Path(layout.log(entries[0].topic))
        path.parent.mkdir(parents=True)
        path.write_bytes(stores.files_of(layout, entries)[str(path)])
        if number % 2:
            Path(layout.unsettled, entries[0].topic).touch()
    done = machine.run([sys.executable, "-c", _COUNTED, layout.root], repo.path)
    assert repo.json("doctor")["findings"] == []
    return [int(number) for number in done.out.split()]


def test_repair_is_linear_in_the_number_of_threads(machine: Machine) -> None:
    _, listed, processes, stamps = repair_counts(machine, 5)
    steps, listed_more, same_processes, same_stamps = repair_counts(machine, 25)
    assert steps >= 12
    assert listed_more < 8 * listed
    assert same_processes == processes
    assert same_stamps == stamps > 0


def test_a_line_that_is_too_long_stays_while_all_else_is_repaired(thread: Repo) -> None:
    """It is never in memory, so it is copied from log to log."""
    log = thread.log("auth")
    first, second = log.read_bytes().splitlines(keepends=True)
    long_line = b"x" * (MAX_LINE_BYTES + 1) + b"\n"
    log.write_bytes(b"garbage\n" + long_line + second)
    for _ in range(2):
        answer = thread.wc("doctor", "--repair", "--json").json
        assert [row["line"] for row in answer["findings"]] == [1]
        assert "longer than any entry" in answer["findings"][0]["message"]
        assert log.read_bytes() == long_line + first + second
    (kept,) = (thread.store / ".local/quarantine/auth").iterdir()
    assert kept.read_bytes() == b"garbage\n"
    size = thread.git("cat-file", "-s", f"{THREADS}:{log.relative_to(thread.store)}")
    assert int(size) == log.stat().st_size
