"""What becomes of a damaged store: every cell of the table in docs/store.md,
for every damage in `damages`."""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from tests import amounts
from tests.conftest import Done, Machine, Repo
from tests.contract.damages import DAMAGES, ENTRIES, LOG, META, PAGE, THREADS, Broken
from tests.core.strategies import entry, nobody_special, write_thread
from tests.observe.stores import Session, error_of
from wc_cli.commands.doctor import examine_store
from wc_cli.run.context import Context
from wc_cli.run.main import run

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tests.contract.damages import Damage

PROJECT = Path(__file__).resolve().parents[2]
SCRIPT = str(PROJECT / "bin/wc-statusline")
DOCS = PROJECT / "docs/store.md"
HEADING = (
    *("found", "`list`, `read`", "`say`", "server", "status line"),
    *("`doctor`", "`doctor --repair`"),
)


class Inside(Repo):
    """A folder someone works in; wc is run in this process, which is what
    makes a table of this size affordable."""

    def wc(
        self,
        *words: str,
        cwd: Path | str = "",
        feed: bytes | None = None,
        env: Mapping[str, str] | None = None,
        without: Any = (),
    ) -> Done:
        assert feed is None
        assert not without
        out, err = io.StringIO(), io.StringIO()
        with (
            _in(self.path / cwd, {**self.machine.env, **(env or {})}),
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
        ):
            code = run(words)
        return Done(code, out.getvalue(), err.getvalue())


@contextlib.contextmanager
def _in(folder: Path, env: Mapping[str, str]) -> Iterator[None]:
    old = dict(os.environ)
    os.environ.clear()
    os.environ.update(env)
    try:
        with contextlib.chdir(folder):
            yield
    finally:
        os.environ.clear()
        os.environ.update(old)


class Scene(NamedTuple):
    """A machine with a store, and where that is."""

    repo: Inside
    root: Path

    def copy(self, to: Path) -> Scene:
        """The same elsewhere, git's records of where things are included."""
        old = self.repo.machine.root
        shutil.copytree(old, to, symlinks=True)
        inside = self.root.relative_to(old)
        pointers = (to / inside / ".git", *(to / "app/.git/worktrees").glob("*/gitdir"))
        for pointer in pointers:
            pointer.write_text(pointer.read_text().replace(str(old), str(to)))
        machine = Machine.__new__(Machine)
        machine.root, machine.home = to, to / "home"
        machine.env = {**self.repo.machine.env, "HOME": str(machine.home)}
        return Scene(Inside(machine, to / "app"), to / inside)

    @property
    def broken(self) -> Broken:
        outside = self.repo.machine.root / "outside"
        outside.mkdir(exist_ok=True)
        return Broken(self.root, outside)

    def prompt(self) -> str:
        """What the script says."""
        env = {"PWD": str(self.repo.path)}
        done = self.repo.machine.run(["sh", SCRIPT], self.repo.path, env=env)
        assert (done.code, done.err) == (0, "")
        return done.out

    def look(self) -> Look:
        """What readers see of the thread."""
        repo = self.repo
        listed, read = (
            repo.wc("list", "--json"),
            repo.wc("read", "auth", "--json", "--peek"),
        )
        rows = [] if listed.code else listed.json["threads"]
        assert repo.wc("read", "other", "--json", "--peek").code in {0, listed.code}
        row = next((one for one in rows if one["topic"] == "auth"), None)
        said = read.json if not read.code else read.error
        return Look(listed.code, row, read.code, said)

    def serve(self) -> Look:
        """What the clients of the server see of it; health agrees with it."""
        session = Session(self.repo.path, self.repo.machine.env)
        answers = session.calls(
            ("list_threads", {"format": "json"}),
            ("read_thread", {"topic": "auth", "format": "json"}),
            ("health", {}),
        )
        listed, fields, health = (one.structured_content or {} for one in answers)
        read = answers[1]
        row = next(
            (one for one in listed.get("threads", ()) if one["topic"] == "auth"), None
        )
        assert health["ok"] == ("problems" not in health)
        names = [one["topic"] for one in health.get("damaged", ())]
        marked = row is not None and "damaged" in row
        assert ("auth" in names) == marked, health
        code = 6 if answers[0].is_error else 0
        codes = {"NOT_FOUND": 3, "CORRUPT": 6}
        said = error_of(read) if read.is_error else fields
        return Look(code, row, codes[said["code"]] if read.is_error else 0, said)


class Before(NamedTuple):
    """What was seen before anything was damaged."""

    look: Look
    served: Look
    prompt: str


class Look(NamedTuple):
    """How a list ended and the thread's row in it, how reading it ended and
    what was read: a thread or an error."""

    listed: int
    row: dict[str, Any] | None
    ended: int
    read: dict[str, Any]

    @property
    def plain(self) -> dict[str, Any]:
        """What was read, without the words for what was done."""
        entries = [one | {"action": ""} for one in self.read["entries"]]
        return self.read | {"entries": entries}

    @property
    def titles(self) -> list[str]:
        return [one["title"] for one in self.read["entries"]]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Scene:
    """A settled store with two threads, and readers who have read them."""
    machine = Machine(tmp_path_factory.mktemp("whole"))
    repo = Inside(machine, machine.repo().path)
    shutil.rmtree(repo.path / ".git/hooks", ignore_errors=True)
    repo.settled("new", "auth", "--title", "one", "--body", "Why?", "--to", "Codex")
    repo.settled("say", "auth", "--title", "two", "--as", "Codex", "--to", "Pat")
    repo.settled("new", "other", "--title", "Other", "--to", "Codex", "--force")
    repo.settled("say", "auth", "--title", "three", "--to", "Pat")
    repo.ok("read", "auth")
    assert repo.json("doctor")["findings"] == []
    return Scene(repo, repo.store)


@pytest.fixture(scope="module")
def before(whole: Scene) -> Before:
    return Before(whole.look(), whole.serve(), whole.prompt())


@pytest.fixture
def scene(whole: Scene, tmp_path: Path) -> Scene:
    return whole.copy(tmp_path / "machine")


def tree(root: Path) -> dict[str, str]:
    """Everything below a store: kinds, bytes and times. Without what is kept for the
    next prompt, list or search, and without the times of the folders in which that is
    written."""
    local = root / ".local"
    kept = [local / name for name in ("cache.db", "line", "locks")]
    times = {local, local / "scratch"}
    found = {}
    for path in sorted(root.rglob("*")):
        if path in times or any(path.is_relative_to(folder) for folder in kept):
            continue
        info = path.lstat()
        plain = path.is_file() and not path.is_symlink() and os.access(path, os.R_OK)
        data = hashlib.sha256(path.read_bytes()).hexdigest() if plain else ""
        found[str(path.relative_to(root))] = f"{info.st_mode} {info.st_mtime_ns} {data}"
    return found


def table() -> dict[str, dict[str, str]]:
    """The rows of the table in docs/store.md by what is found, by column."""
    text = DOCS.read_text().partition("\n## Damage\n")[2].partition("\n## ")[0]
    lines = [one for one in text.splitlines() if one.startswith("|")]
    rows = [tuple(cell.strip() for cell in one.strip("|").split("|")) for one in lines]
    assert rows[0] == HEADING
    return {row[0]: dict(zip(HEADING, row, strict=True)) for row in rows[2:]}


ROWS = table()


def words_of(case: Damage, column: str) -> str:
    (row,) = [one for name, one in ROWS.items() if name.startswith(f"{case.row}: ")]
    return row[column]


def test_every_row_has_its_damages() -> None:
    assert {one.row for one in DAMAGES.values()} == {
        name.partition(":")[0] for name in ROWS
    }


def check_look(words: str, now: Look, before: Look, left: int) -> None:
    """What readers see is what a cell says."""
    if words == "refuse":
        assert (now.listed, now.ended) == (6, 6)
        return
    if words == "list refuses, read as before":
        assert (now.listed, now.ended, now.plain) == (6, 0, before.plain)
        return
    assert now.listed == 0
    if words == "not there":
        assert (now.row, now.ended) == (None, 3)
        return
    assert now.row is not None
    if words == "marked, unreadable":
        assert (now.row["damaged"], now.row["status"], now.ended) == (True, "?", 6)
        return
    marked, said = {
        "as before": (False, False),
        "all; read says so": (False, True),
        "the rest, marked": (True, True),
    }[words]
    assert now.ended == 0
    assert ("damaged" in now.row, "damage" in now.read) == (marked, said), now
    if left == ENTRIES:
        assert now.row["entry_count"] == ENTRIES
        assert len(now.titles) == ENTRIES
    else:
        assert len(now.titles) == left
    if words == "as before":
        assert (now.row, now.plain) == (before.row, before.plain)


def readable_bytes(path: Path) -> bytes | None:
    """The bytes of a file; ``None`` if it is not a file or may not be read."""
    return path.read_bytes() if path.is_file() and os.access(path, os.R_OK) else None


def check_say(scene: Scene, case: Damage) -> None:
    words = words_of(case, "`say`")
    log = scene.root / LOG
    before = readable_bytes(log)
    done = scene.repo.wc("say", "auth", "--title", "later", "--to", "Codex", "--json")
    if words == "refuses":
        assert done.code in {6, 7}, done
        assert readable_bytes(log) == before
        assert done.error["hint"]
        return
    assert done.code == 0, done
    assert bool(done.json["notes"]) == (words == "saves, with a note"), done
    data = log.read_bytes()
    if before:
        assert data.startswith(before)
    assert b'"later"' in data
    look = scene.look()
    assert "later" in look.titles
    # What is known of bad lines is not forgotten by writing on.
    marked = "marked" in words_of(case, "`list`, `read`")
    if look.row is not None:  # else the list fails, as it did before
        assert ("damaged" in look.row) == marked
    scene.repo.wc("doctor", "--repair", "--json")
    look = scene.look()
    assert "later" in look.titles
    assert len(look.titles) == ENTRIES + 1
    if case.row != "old projection":  # rendered again at every write
        check_kept(scene, case)


def check_kept(scene: Scene, case: Damage) -> None:
    """Every bad byte is still there."""
    places = [scene.root / LOG, *(scene.root / ".local/quarantine").rglob("*")]
    files = [one for one in places if one.is_file() and not one.is_symlink()]
    together = b"".join(readable_bytes(path) or b"" for path in files)
    for data in case.kept:
        assert data in together


def check_prompt(words: str, scene: Scene, before: str) -> None:
    script = scene.prompt()
    done = scene.repo.wc("statusline")
    expected = {
        "as before": (before, 0, before),
        "as last written; `wc statusline` by what is left": (before, 0, None),
        "by what is left": (done.out, 0, None),
        "nothing; `wc statusline` fails": ("", 6, ""),
    }[words]
    if expected[0] is not None:
        assert script == expected[0]
    assert done.code == expected[1], done
    if expected[2] is not None:
        assert done.out == expected[2]


def check_doctor(words: str, scene: Scene, case: Damage) -> None:
    before = tree(scene.root)
    done = scene.repo.wc("doctor", "--json")
    assert tree(scene.root) == before
    answer = done.json
    assert set(answer) == {
        *("store", "kind", "threads", "entries", "findings", "waiting"),
        *("notes", "mended"),
        *("graph", "meaning"),
    }
    for one in answer["findings"]:
        assert set(one) == {"file", "line", "message", "fix"}
        assert one["message"]
        assert one["fix"]
    places = [
        f"{one['file']}:{one['line']}" if one["line"] else one["file"]
        for one in answer["findings"]
    ]
    if words == "nothing":
        assert (done.code, places) == (0, [])
        return
    assert done.code == 9
    of_case = {one.partition(":")[0] for one in case.found}
    assert sorted(p for p in places if p.partition(":")[0] in of_case) == sorted(
        case.found
    ), answer["findings"]
    by_line = any(":" in one for one in case.found if case.row != "gone log")
    assert by_line == (words == "file and line"), words


def check_repair(words: str, scene: Scene, case: Damage, before: Look) -> None:
    root, repo = scene.root, scene.repo
    damaged = tree(root)
    dry = repo.wc("doctor", "--repair", "--dry-run", "--json")
    assert tree(root) == damaged
    done = repo.wc("doctor", "--repair", "--json")
    repaired = done.json["mended"]
    assert bool(dry.json["mended"]) == bool(repaired)
    again = tree(root)
    assert repo.wc("doctor", "--repair", "--json").json["mended"] == []
    assert tree(root) == again
    if words == "nothing":
        assert (done.code, repaired) == (0, [])
        assert again == damaged
    elif words == "left to you":
        assert done.code == 9
    else:
        assert done.code == 0, done
        assert scene.look().titles == before.titles
        assert not repo.machine.git("status", "--porcelain", cwd=root)
    check_kept(scene, case)


def damages() -> Iterator[object]:
    """A damage of each row of the table, and in the long run the others."""
    met: set[str] = set()
    for name, case in DAMAGES.items():
        yield pytest.param(name, marks=[pytest.mark.long] * (case.row in met))
        met.add(case.row)


@pytest.mark.parametrize("name", [*damages()])
def test_a_damage_does_what_the_table_says(
    before: Before, scene: Scene, tmp_path: Path, name: str
) -> None:
    case = DAMAGES[name]
    if case.row == "forbidden log" and not os.geteuid():
        pytest.skip("root may read everything")
    written = scene.copy(tmp_path / "written")
    for one in (scene, written):
        case.make(one.broken)
    damaged = tree(scene.root)
    check_look(words_of(case, "`list`, `read`"), scene.look(), before.look, case.left)
    check_look(words_of(case, "server"), scene.serve(), before.served, case.left)
    check_prompt(words_of(case, "status line"), scene, before.prompt)
    check_doctor(words_of(case, "`doctor`"), scene, case)
    assert tree(scene.root) == damaged
    check_say(written, case)
    check_repair(words_of(case, "`doctor --repair`"), scene, case, before.look)


# --- what the table has no room for --------------------------------------------


@pytest.fixture
def notes(tmp_path: Path) -> Inside:
    """A store outside of git: nothing but its own page to go by."""
    machine = Machine(tmp_path / "notes")
    place = Inside(machine, machine.folder("here").path)
    for title in ("one", "two", "three"):
        place.settled("say", "auth", "--title", title)
    return place


def _root(place: Inside) -> Path:
    return place.path / ".watercooler"


def fixes(place: Inside) -> dict[str, str]:
    """What doctor says to do, by the file it is about and the line in it."""
    findings = place.wc("doctor", "--json").json["findings"]
    return {f"{one['file']}:{one['line']}": one["fix"] for one in findings}


@pytest.mark.parametrize("left", [b"", b"garbage\n", None])
def test_outside_git_the_page_has_it(notes: Inside, left: bytes | None) -> None:
    log = _root(notes) / LOG
    data = log.read_bytes()
    log.unlink()
    if left is not None:
        log.write_bytes(left)
    assert "have 3 entries" in fixes(notes)[f"{LOG}:0"]
    notes.ok("doctor", "--repair")
    assert log.read_bytes() == data


def test_what_is_nowhere_is_reported_as_such(notes: Inside) -> None:
    root = _root(notes)
    (root / LOG).unlink()
    (root / PAGE).unlink()
    assert fixes(notes)[f"{LOG}:0"].startswith("Neither branch nor page has it.")
    before = tree(root)
    assert notes.wc("doctor", "--repair").code == 9
    assert tree(root) == before


def test_entries_that_are_nowhere_can_be_done_without(notes: Inside) -> None:
    root = _root(notes)
    first, *_ = (root / LOG).read_bytes().splitlines(keepends=True)
    (root / LOG).write_bytes(first)
    (root / PAGE).write_text("cut")
    assert "to continue without" in fixes(notes)[f"{LOG}:0"]
    notes.fails(6, "say", "auth", "--title", "x")
    notes.ok("doctor", "--repair")
    assert notes.json("doctor")["findings"] == []
    notes.ok("say", "auth", "--title", "goes on")


def test_a_page_that_someone_wrote_into_is_not_believed(notes: Inside) -> None:
    page = _root(notes) / PAGE
    text = page.read_text()
    forged = text[text.index("---") :].replace("one", "forged")
    page.write_text(text + forged.replace("Entry-ID: 01", "Entry-ID: 02"))
    before = (_root(notes) / LOG).read_bytes()
    notes.ok("doctor", "--repair")
    assert (_root(notes) / LOG).read_bytes() == before
    kept = list((_root(notes) / ".local/quarantine/auth").iterdir())
    assert [b"forged" in one.read_bytes() for one in kept] == [True]


def test_a_store_that_is_whole_is_left_alone(notes: Inside) -> None:
    before = tree(_root(notes))
    assert notes.json("doctor", "--repair")["mended"] == []
    assert tree(_root(notes)) == before


def test_a_backup_by_hard_links_is_no_damage(notes: Inside, tmp_path: Path) -> None:
    for name in (LOG, META, PAGE):
        os.link(_root(notes) / name, tmp_path / Path(name).name)
    assert notes.json("doctor")["findings"] == []
    assert notes.json("doctor", "--repair")["mended"] == []


def test_a_folder_that_breaks_the_rule_is_looked_after(notes: Inside) -> None:
    folder = _root(notes) / THREADS / "a b*"
    shutil.copytree((_root(notes) / LOG).parent, folder)
    with (folder / "entries.jsonl").open("ab") as log:
        log.write(b"garbage\n")
    assert len(notes.json("read", "a%20b%2A", "--peek")["entries"]) == ENTRIES
    places = {
        (one["file"], one["line"])
        for one in notes.wc("doctor", "--json").json["findings"]
    }
    assert (f"{THREADS}/a b*/entries.jsonl", 4) in places
    notes.ok("doctor", "--repair")
    assert notes.json("doctor")["findings"] == []
    assert len(notes.json("read", "a%20b%2A", "--peek")["entries"]) == ENTRIES


def test_words_of_a_newer_wc_are_shown_as_they_are(notes: Inside) -> None:
    log = _root(notes) / LOG
    *before, last = log.read_bytes().splitlines(keepends=True)
    last = last.replace(b'"action":"say"', b'"action":"vote","status":"PAUSED"')
    log.write_bytes(b"".join(before) + last)
    answer = notes.json("read", "auth", "--peek")
    assert (answer["status"], answer["entries"][-1]["action"]) == ("PAUSED", "vote")
    notes.ok("doctor", "--repair")
    notes.ok("ack", "auth")
    assert notes.json("list")["threads"][0]["status"] == "PAUSED"


def test_what_may_not_be_read_hides_nothing_else() -> None:
    with nobody_special() as folder:
        for topic in ("auth", "other"):
            write_thread(folder, topic, [entry(1)], meta=True)
        (folder / LOG).chmod(0)
        env = {"WATERCOOLER_DIR": str(folder), "HOME": str(folder), "USER": "pat"}
        report = examine_store(Context(env, str(folder)))
        assert (report.threads, report.entries) == (2, 1)
        (found,) = [one for one in report.findings if one.file == LOG]
        assert "Permission denied" in found.message
        assert "owner and permissions" in found.fix


def test_a_log_of_any_length_is_read_and_written_to(notes: Inside) -> None:
    """100 MB in the long run; what it takes is in docs/reliability.md."""
    size = 100_000_000 if amounts.is_long() else 1_000_000
    body = "x" * 20_000
    count = size // len(body)
    write_thread(_root(notes), "long", [entry(n, body=body) for n in range(count)])
    with (_root(notes) / THREADS / "long/entries.jsonl").open("ab") as log:
        log.write(b"garbage\n")
    rows = {one["topic"]: one for one in notes.json("list")["threads"]}
    assert (rows["long"]["entry_count"], rows["long"]["damaged"]) == (count, True)
    answer = notes.json("read", "long", "--peek", "--from", str(count - 1))
    assert [one["idx"] for one in answer["entries"]] == [count - 1]
    assert notes.json("say", "long", "--title", "x")["idx"] == count
    assert "long" in notes.wc("doctor").out
    assert notes.ok("doctor", "--repair", "--json").json["findings"] == []
    assert notes.json("list")["threads"][0]["entry_count"] == count + 1
