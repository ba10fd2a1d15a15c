"""What was written here, and what came with a push: names and ids prove nothing."""

from __future__ import annotations

import json
import os
import shutil
import sys
import time
from typing import TYPE_CHECKING

from tests.conftest import SOURCE
from wc_cli.ledger.store import writtenlines
from wc_core.base.layout import Layout
from wc_core.ledger.git.private import private_layout
from wc_core.ledger.provenance import (
    ACTIONS,
    AFTER_YES,
    ALWAYS,
    BRANCH,
    CARRIER,
    HERE,
    NAMED,
    NEVER,
    ORIGINS,
    OTHERS,
    PERSON,
    RULES,
    Provenance,
)
from wc_core.ledger.threads.reader import MAX_META_BYTES, StoreReader

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Repo

_DAY = 24 * 3600


_WORDS = {
    ALWAYS: "yes",
    OTHERS: "yes, unless the person wrote it",
    NAMED: "if `",
    PERSON: "if a person wrote it, for the commit seen",
    AFTER_YES: "after a person's yes on this machine to its text",
    NEVER: "never",
}


def test_the_page_has_the_table_that_decides() -> None:
    page = (SOURCE.parent / "docs/security.md").read_text()
    table = page.partition("| an entry may |")[2].partition("\n\n")[0]
    rows = [row.strip("| ").split(" | ") for row in table.splitlines()[2:]]
    assert len(rows) == len(ACTIONS)
    for action, (_, *cells) in zip(ACTIONS, rows, strict=True):
        assert len(cells) == len(ORIGINS)
        for origin, cell in zip(ORIGINS, cells, strict=True):
            assert cell.startswith(_WORDS[RULES[action][origin]]), (action, origin)


def _origins(repo: Repo, topic: str) -> list[str]:
    reader = StoreReader(str(repo.store))
    thread, provenance = reader.thread(topic), Provenance(reader.layout)
    return [provenance.of(thread, entry.id).kind for entry in thread.entries]


def _rewrite(log: Path, number: int, **fields: object) -> bytes:
    """Add a version of a line that has more fields, as a push can contain it."""
    line = json.loads(log.read_bytes().splitlines()[number])
    data = json.dumps({**line, **fields}).encode() + b"\n"
    log.write_bytes(log.read_bytes() + data)
    return data


def test_what_can_cause_something_is_recorded_outside_the_store(repo: Repo) -> None:
    repo.settled("new", "login", "-m", "Log in", "--to", "Codex")
    assert _origins(repo, "login") == [HERE]
    written = repo.private / "written/login"
    assert len(written.read_text().split()[0]) == 64
    assert repo.store not in written.parents
    assert repo.path / ".git" in written.parents
    assert oct((written.parents[2]).stat().st_mode)[-3:] == "700"
    # A remark causes nothing, so it pays nothing.
    size = written.stat().st_size
    repo.settled("say", "login", "-m", "A remark", "--kind", "note")
    assert written.stat().st_size == size


def test_the_same_words_without_a_record_came_with_the_branch(repo: Repo) -> None:
    repo.settled("new", "login", "-m", "Log in", "--to", "Codex")
    (repo.private / "written/login").unlink()
    assert _origins(repo, "login") == [BRANCH]


def test_a_pushed_version_with_the_same_id_does_not_replace_ours(repo: Repo) -> None:
    repo.settled("new", "login", "-m", "Log in", "--to", "Codex")
    log = repo.log("login")
    _rewrite(log, 0, ball="Gemini", body="Something else.", reason="more fields")
    answer = repo.json("read", "login")
    assert answer["ball"] == "Codex"
    assert "Something else" not in json.dumps(answer)
    assert _origins(repo, "login") == [HERE]
    findings = repo.wc("doctor").out
    assert "two versions" in findings
    # What is set aside is the other one.
    repo.ok("doctor", "--repair")
    assert repo.json("read", "login")["ball"] == "Codex"
    assert len(log.read_bytes().splitlines()) == 1


def test_of_two_versions_that_came_the_fuller_counts_and_neither_is_ours(
    repo: Repo,
) -> None:
    repo.settled("new", "login", "-m", "Log in", "--to", "Codex")
    (repo.private / "written/login").unlink()
    _rewrite(repo.log("login"), 0, ball="Gemini", reason="more fields")
    assert repo.json("read", "login")["ball"] == "Gemini"
    assert _origins(repo, "login") == [BRANCH]


def test_a_record_in_the_store_counts_for_nothing(repo: Repo) -> None:
    """A branch can contain `.local`."""
    repo.settled("new", "login", "-m", "Log in", "--to", "Codex")
    record = repo.private / "written/login"
    pushed = repo.store / ".local/written/login"
    pushed.parent.mkdir()
    record.rename(pushed)
    assert _origins(repo, "login") == [BRANCH]


def test_a_folder_of_another_user_counts_for_nothing(repo: Repo) -> None:
    repo.settled("new", "login", "-m", "Log in", "--to", "Codex")
    layout = Layout(str(repo.store))
    root = private_layout(layout).root
    if os.geteuid():
        return  # only root can give a folder away
    os.chown(root, 12345, -1)
    assert _origins(repo, "login") == [BRANCH]


def test_a_line_of_the_store_says_that_an_entry_came_with_a_carrier(
    repo: Repo,
) -> None:
    repo.settled("new", "login", "-m", "Log in", "--to", "Codex")
    (repo.private / "written/login").unlink()
    entry = json.loads(repo.log("login").read_bytes())["entry_id"]
    row = json.dumps({"entry": entry, "via": "codex/login"})
    (repo.store / "harvested.jsonl").write_text(f"{row}\n")
    assert _origins(repo, "login") == [CARRIER]


def test_a_store_in_the_work_tree_came_with_the_branch(repo: Repo) -> None:
    (repo.path / ".watercooler/threads").mkdir(parents=True)
    repo.ok("new", "login", "-m", "Log in", "--to", "Codex")
    assert _origins(repo, "login") == [BRANCH]


def test_records_go_30_days_after_their_thread_was_closed(repo: Repo) -> None:
    repo.settled("new", "login", "-m", "Log in", "--to", "Codex")
    repo.settled("new", "search", "-m", "Search", "--to", "Codex")
    repo.settled("close", "login", "-m", "Not needed")
    reader = StoreReader(str(repo.store))
    files = {name: repo.private / "written" / name for name in ("login", "search")}
    later = time.time() + 31 * _DAY
    writtenlines.prune(reader, int(later * 1000))
    assert not files["login"].exists()
    assert files["search"].exists()
    writtenlines.prune(reader, int((time.time() + 29 * _DAY) * 1000))
    assert files["search"].exists()


def test_the_background_process_removes_them_once_a_day(repo: Repo) -> None:
    repo.settled("new", "login", "-m", "Log in", "--to", "Codex")
    repo.settled("close", "login", "-m", "Not needed")
    reader = StoreReader(str(repo.store))
    folder = repo.private / "written"
    later_ms = int((time.time() + 31 * _DAY) * 1000)
    writtenlines.prune_if_due(reader, later_ms)
    assert [path.name for path in folder.iterdir()] == ["=pruned"]
    # Of a thread that is gone, and old: it goes, but not before a day has passed.
    record, stamp = folder / "gone", folder / "=pruned"
    record.touch()
    long_ago = time.time() - 40 * _DAY
    os.utime(record, (long_ago, long_ago))
    background = (sys.executable, "-P", "-m", "wc_cli.run.background", str(repo.store))
    repo.machine.run(background, repo.path)
    assert record.exists()
    os.utime(stamp, (long_ago, long_ago))
    repo.machine.run(background, repo.path)
    assert not record.exists()
    assert time.time() - stamp.stat().st_mtime < _DAY


def test_nothing_is_made_where_nothing_was_written(repo: Repo) -> None:
    repo.ok("init")
    writtenlines.prune_if_due(StoreReader(str(repo.store)), 0)
    assert not (repo.private / "written").exists()


def test_where_git_cannot_be_written_to_the_receipt_says_so(repo: Repo) -> None:
    repo.ok("init")
    repo.settled("say", "login", "-m", "Log in", "--as", "Gemini")
    written = repo.private / "written"
    shutil.rmtree(written)
    written.write_text("in the way")
    done = repo.ok("new", "search", "-m", "Search", "--to", "Codex")
    assert "counts as if it had come from elsewhere" in done.err
    assert _origins(repo, "search") == [BRANCH]


def test_a_pushed_file_with_many_objects_is_not_read(repo: Repo) -> None:
    """Packed, it is small; as objects, it would fill the memory of each command."""
    repo.settled("new", "login", "-m", "Log in", "--to", "Codex")
    meta = repo.log("login").with_name("meta.json")
    fields = json.loads(meta.read_text())
    meta.write_text(json.dumps({**fields, "title": "Forged", "x": [0] * 2_000_000}))
    assert meta.stat().st_size > MAX_META_BYTES
    (row,) = repo.json("list")["threads"]
    assert (row["title"], row["ball"]) == ("Log in", "Codex")
    names = "".join(f"n{number} = 'Codex'\n" for number in range(80_000))
    (repo.store / "config.toml").write_text(f"[aliases]\n{names}")
    error = repo.fails(6, "say", "login", "-m", "More")
    assert "config.toml: the settings cannot be used" in error
    assert "has more than 1048576 bytes" in error


def test_a_list_of_carriers_that_is_too_long_makes_nothing_trusted(repo: Repo) -> None:
    """Carriers fill it, and one that is not read would say that none came."""
    repo.settled("new", "login", "-m", "Log in", "--to", "Codex")
    repo.settled("new", "search", "-m", "Search", "--to", "Codex")
    (repo.private / "written/login").unlink()
    harvested = repo.store / "harvested.jsonl"
    harvested.write_bytes(b'{"entry":"1","via":"codex/x"}\n' * 600_000)
    assert _origins(repo, "login") == [CARRIER]
    assert _origins(repo, "search") == [HERE]
