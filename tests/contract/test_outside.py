"""No link and no race leads out of the store: whatever stands in the place of
a file or folder of ours, nothing elsewhere is changed, made or shown."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests import amounts
from tests.contract.inprocess import surroundings, wc
from tests.observe.stores import Session
from wc_core.base.layout import Layout

if TYPE_CHECKING:
    from collections.abc import Iterator

SCRIPT = Path(__file__).resolve().parents[2] / "bin/wc-statusline"
SECRET = "the-secret-of-someone-else"
ROUNDS = amounts.rounds(3, 100)
STEP = 1 if amounts.is_long() else 2

FOLDERS = (
    *("graph", "graph/baseline", "graph/baseline/threads", "threads", ".local"),
    *("graph/baseline/threads/auth", ".local/locks", ".local/locks/threads"),
    *(".local/unsettled", ".local/cursors", ".local/cursors/auth", ".local/uncached"),
    *(".local/me", ".local/me/=main", ".local/scratch", ".local/imported"),
    *(".local/quarantine", ".local/quarantine/auth"),
)
FILES = (
    *(f"graph/baseline/threads/auth/{one}" for one in ("entries.jsonl", "meta.json")),
    *("graph/baseline/threads/auth/edges.jsonl", "threads/auth.md", "threads/old.md"),
    *(".local/locks/threads/auth", ".local/locks/git", ".local/unsettled/auth"),
    *(".local/settling.json", ".local/committing", ".local/index.md", "config.toml"),
    *(".gitignore", ".gitattributes", ".local/cursors/auth/pat", "config.json"),
    *(".local/me/=main/=default", ".local/cache.db", "agents.json"),
)
WRITING = (
    ("say", "auth", "--title", "T", "--body", "B"),
    ("say", "brand-new", "--title", "T", "--new"),
    ("say", "old", "--title", "T"),
    ("take", "auth", "--reason", "r"),
    ("read", "auth", "--seen"),
    ("updates", "--seen"),
    ("reindex",),
    ("note", "busy"),
    ("init",),
    ("doctor", "--repair"),
    ("set-status", "auth", "CLOSED"),
)
READING = (
    *(("list",), ("read", "auth"), ("read", "old"), ("search", "secret")),
    *(("updates",), ("statusline",), ("doctor",), ("whoami",)),
    *(("worktrees",), ("brief",)),
)
OLD_PAGE = "# old — Thread\nStatus: OPEN\n\n---\nEntry: Pat 2026-01-01T00:00:00Z\n\nx\n"


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store in which each of these places is taken."""
    folder = tmp_path_factory.mktemp("template")
    store = folder / "store"
    env = surroundings(folder, store)
    inline = env | {"WATERCOOLER_SYNC": "inline"}
    assert wc(["new", "auth", "--title", "T"], folder, inline).code == 0
    assert wc(["reindex"], folder, inline).code == 0
    (store / "threads/old.md").write_text(OLD_PAGE)
    for name in ("config.toml", "config.json", "agents.json"):
        (store / name).write_text("" if name.endswith("toml") else "{}")
    for name in FOLDERS:
        (store / name).mkdir(parents=True, exist_ok=True)
    assert wc(["say", "auth", "--title", "T"], folder, env).code == 0
    assert (
        wc(
            ["read", "auth", "--seen"], folder, env | {"WATERCOOLER_AGENT": "Codex"}
        ).code
        == 0
    )
    for name in (".local/settling.json", ".local/committing"):
        (store / name).touch()
    return folder


class Victim:
    """A store one of whose places leads to someone else's file or folder."""

    def __init__(self, template: Path, folder: Path, name: str, *, hard: bool) -> None:
        shutil.copytree(template / "store", folder / "store")
        self.folder = folder
        self.store = folder / "store"
        self.elsewhere = folder / "elsewhere"
        self.elsewhere.mkdir()
        place = next(iter(self.store.glob(name)), self.store / name)
        target = self.elsewhere / "target"
        if place.is_dir():
            shutil.copytree(place, target)
            (target / "secret").write_text(SECRET)
            for log in target.rglob("entries.jsonl"):
                log.write_text(log.read_text().replace('"T"', f'"{SECRET}"'))
            for page in target.rglob("*.md"):
                page.write_text(f"{page.read_text()}\n{SECRET}\n")
            shutil.rmtree(place)
            place.symlink_to(target)
        else:
            place.parent.mkdir(parents=True, exist_ok=True)
            text = place.read_text() if place.exists() else ""
            target.write_text(text.replace('"T"', f'"{SECRET}"') or SECRET)
            place.unlink(missing_ok=True)
            (place.hardlink_to if hard else place.symlink_to)(target)
        self.before = self.now()

    def now(self) -> dict[str, tuple[bytes, int, int]]:
        """All that is elsewhere: names, bytes, times, modes."""
        found = {}
        for path in (self.elsewhere, *sorted(self.elsewhere.rglob("*"))):
            info = path.lstat()
            data = path.read_bytes() if path.is_file() else b""
            found[str(path)] = (data, info.st_mtime_ns, info.st_mode)
        return found

    def try_everything(self) -> Iterator[tuple[tuple[str, ...], str]]:
        """What each command said; nothing may have changed after any."""
        env = surroundings(self.folder, self.store)
        for words in (*READING, *WRITING, *READING):
            for sync in ("off", "inline") if words in WRITING[:1] else ("off",):
                done = wc(words, self.folder, env | {"WATERCOOLER_SYNC": sync})
                assert done.code in {0, 2, 3, 4, 5, 6, 7, 9}, (words, done)
                assert self.now() == self.before, (words, done)
                yield words, done.out + done.err


@pytest.mark.parametrize("name", (FOLDERS + FILES)[::STEP])
def test_no_symbolic_link_is_written_or_shown_through(
    template: Path, tmp_path: Path, name: str
) -> None:
    victim = Victim(template, tmp_path, name, hard=False)
    for words, said in victim.try_everything():
        assert SECRET not in said, words


@pytest.mark.usefixtures("unmeasured")  # the same runs with symbolic links
@pytest.mark.parametrize("name", FILES[::STEP])
def test_no_hard_link_is_written_through(
    template: Path, tmp_path: Path, name: str
) -> None:
    for words, said in Victim(template, tmp_path, name, hard=True).try_everything():
        assert said or "--seen" in words or words[0] == "statusline"


@pytest.mark.parametrize("name", [".local", ".local/uncached", ".local/me"])
def test_the_status_line_follows_none(
    template: Path, tmp_path: Path, name: str
) -> None:
    victim = Victim(template, tmp_path, name, hard=False)
    env = {**surroundings(tmp_path, victim.store), "COLUMNS": "200"}
    done = subprocess.run(
        ["sh", str(SCRIPT)], cwd=tmp_path, env=env, capture_output=True, check=True
    )
    # From the logs alone: the ball of a thread that is mine.
    assert "waits for you elsewhere" in done.stdout.decode()
    assert SECRET not in done.stdout.decode()
    assert victim.now() == victim.before


@pytest.mark.parametrize(
    "name",
    [
        *("graph", "graph/baseline/threads", "graph/baseline/threads/auth", "threads"),
        *("graph/baseline/threads/auth/entries.jsonl", "threads/old.md", "config.toml"),
    ],
)
def test_the_server_shows_nothing_through_a_link(
    template: Path, tmp_path: Path, name: str
) -> None:
    victim = Victim(template, tmp_path, name, hard=False)
    session = Session(tmp_path, surroundings(tmp_path, victim.store))
    for tool, arguments in (
        *(
            ("list_threads", {}),
            ("search_threads", {"query": "secret"}),
            ("health", {}),
        ),
        *(("read_thread", {"topic": "auth"}), ("read_thread", {"topic": "old"})),
    ):
        said = str(session.call(tool, **arguments))
        assert SECRET not in said.replace("'query': 'secret'", ""), tool
    assert victim.now() == victim.before


# Exchanges a folder with a link to another one until it is ended.
SWAPPER = """
import os, sys
place, elsewhere = sys.argv[1:]
os.symlink(elsewhere, place + '.link')
print('ready', flush=True)
while True:
    os.rename(place, place + '.kept')
    os.rename(place + '.link', place)
    os.rename(place, place + '.link')
    os.rename(place + '.kept', place)
"""


@pytest.mark.parametrize(
    "name",
    [
        *("graph/baseline/threads/auth", "graph/baseline/threads", "graph", "threads"),
        *(
            ".local",
            ".local/scratch",
            ".local/unsettled",
            ".local/uncached",
            ".local/me",
        ),
        *(".local/locks/threads", ".local/cursors", ".local/quarantine"),
    ][::STEP],
)
def test_no_race_leads_outside(template: Path, tmp_path: Path, name: str) -> None:
    shutil.copytree(template / "store", tmp_path / "store")
    store, elsewhere = tmp_path / "store", tmp_path / "elsewhere"
    # What a writer would look for is there, too.
    shutil.copytree(store / name, elsewhere)
    env = surroundings(tmp_path, store)
    # The real one, wherever its names lead.
    real = os.open(Layout(str(store)).folder("auth"), os.O_RDONLY)
    victim = {str(one): _state(one) for one in (elsewhere, *elsewhere.rglob("*"))}
    words = [sys.executable, "-c", SWAPPER, str(store / name), str(elsewhere)]
    swapper = subprocess.Popen(words, stdout=subprocess.PIPE)
    try:
        assert swapper.stdout is not None
        swapper.stdout.readline()
        codes = {
            wc(words, tmp_path, env | {"WATERCOOLER_SYNC": sync}).code
            for number in range(ROUNDS)
            for words, sync in _race(number, real)
        }
    finally:
        swapper.kill()
        swapper.communicate()
        os.close(real)
    found = {str(one): _state(one) for one in (elsewhere, *elsewhere.rglob("*"))}
    assert found == victim
    assert codes <= {0, 3, 4, 5, 6, 7, 9}


def _race(number: int, real: int) -> Iterator[tuple[tuple[str, ...], str]]:
    """The commands of one round; in every fourth there is something to be set
    aside."""
    sync = "inline" if number % 2 else "off"
    yield ("say", "auth", "--title", "T", "--lock-timeout", "0.1"), sync
    yield ("say", f"new-{number}", "--title", "T", "--new"), "off"
    yield ("read", "auth", "--seen"), "off"
    if number % 4 == 0:
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT
        handle = os.open("entries.jsonl", flags, dir_fd=real)
        os.write(handle, b"garbage\n")
        os.close(handle)
        yield ("doctor", "--repair"), "off"


def _state(path: Path) -> tuple[bytes, int]:
    return path.read_bytes() if path.is_file() else b"", path.lstat().st_mtime_ns
